"use strict";
for (const place of document.querySelectorAll("[data-errors]")) {
  const data = JSON.parse(document.getElementById(place.dataset.errors).textContent);
  const controls = place.querySelector(".controls");
  const body = place.querySelector("tbody");
  const count = place.querySelector(".count");
  const page = 20;
  let shown = page;

  const element = (name, values = {}, ...children) => {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children);
    return made;
  };
  const choice = (title, names) => {
    const select = element("select");
    select.append(element("option", { value: "-1", textContent: "any" }));
    names.forEach((name, at) => select.append(element("option", { value: String(at), textContent: name })));
    controls.append(element("label", {}, title + " ", select));
    return select;
  };
  const model = document.querySelector("svg.mark");
  const mark = (label) => {
    const svg = model.cloneNode(true);
    svg.firstElementChild.setAttribute("fill", data.looks[label][0]);
    svg.firstElementChild.setAttribute("d", data.looks[label][1]);
    return svg;
  };
  const named = (label) => element("td", {}, mark(label), data.labels[label]);

  const bound = (title, value) => {
    const input = element("input", { type: "number", min: 0, max: 100, step: 5, value });
    controls.append(element("label", {}, title, input));
    return input;
  };

  const truth = choice("True label", data.labels);
  const predicted = choice("Predicted", data.labels);
  const third = data.rows.some((row) => row[5] >= 0) ? choice("Part of the article", ["first third", "middle", "last third"]) : null;
  const section = data.sections.length ? choice("Section", data.sections) : null;
  const sure = data.rows.some((row) => row[4] !== null);
  const least = sure ? bound("Probability from, % ", 0) : null;
  const most = sure ? bound("to, % ", 100) : null;
  const needle = element("input", { type: "search", placeholder: "article id" });
  if (data.rows.some((row) => row.length > 7)) needle.placeholder = "article id or words";
  controls.append(element("label", {}, "Find ", needle));
  const more = element("button", { type: "button", textContent: `Show ${page} more` });
  place.append(more);
  count.setAttribute("aria-live", "polite");

  const draw = () => {
    const [t, p, word] = [Number(truth.value), Number(predicted.value), needle.value.trim().toLowerCase()];
    const [place, part] = [third ? Number(third.value) : -1, section ? Number(section.value) : -1];
    const floor = least ? Number(least.value) / 100 : 0;
    const roof = most && most.value !== "" ? Number(most.value) / 100 : 1;
    const rows = data.rows.filter((row) =>
      (t === -1 || row[2] === t) && (p === -1 || row[3] === p) &&
      (place === -1 || row[5] === place) && (part === -1 || row[6] === part) &&
      (!floor || row[4] >= floor) && (roof >= 1 || (row[4] !== null && row[4] <= roof)) &&
      (!word || row[0].toLowerCase().includes(word) || (row[7] || "").toLowerCase().includes(word)));
    body.replaceChildren(...rows.slice(0, shown).map((row) => {
      const cells = [named(row[2]), named(row[3])];
      if (sure) cells.push(element("td", { className: "n", textContent: row[4] === null ? "–" : (100 * row[4]).toFixed(1) }));
      cells.push(element("td", { textContent: row[0] }), element("td", { className: "n", textContent: row[1] }));
      if (row.length > 7) cells.push(element("td", { className: "wrap", textContent: row[7] }));
      return element("tr", {}, ...cells);
    }));
    const now = Math.min(shown, rows.length);
    count.textContent = `${now} shown of ${rows.length} that fit, of ${data.rows.length} listed`;
    more.hidden = rows.length <= shown;
  };
  for (const control of controls.querySelectorAll("select, input")) {
    control.addEventListener("input", () => { shown = page; draw(); });
  }
  more.addEventListener("click", () => { shown += page; draw(); });
  draw();
}
