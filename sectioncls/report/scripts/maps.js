"use strict";
const startMaps = (place) => {
  const data = JSON.parse(document.getElementById(place.dataset.points).textContent);
  const bytes = (text) => {
    const letters = atob(text);
    const found = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) found[at] = letters.charCodeAt(at);
    return found.buffer;
  };
  const label = new Uint16Array(bytes(data.label));
  const article = new Uint32Array(bytes(data.article));
  const index = new Int32Array(bytes(data.index));
  const ABSENT = 65535;
  // What colours may mean: the label of a sentence; field, venue and year of a paper.
  const facets = [{ name: data.by, words: data.labels, looks: data.looks, code: label }];
  for (const one of data.also) facets.push({ ...one, code: new Uint16Array(bytes(one.code)) });
  for (const one of facets) one.hidden = new Set();
  const [noun, nouns] = data.nouns;
  const ofPapers = noun === "paper";
  const visible = new Uint8Array(data.n).fill(1);
  const selected = new Set();
  const LISTED = 20;
  const whole = new Intl.NumberFormat("en");
  let colouring = data.by;
  let chosen = -1;

  const element = (name, values = {}, ...children) => {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children);
    return made;
  };

  const maps = data.maps.map((one, at) => {
    const figure = place.querySelector(`[data-map="${at}"]`);
    const alt = figure.querySelector("img").alt;
    const canvas = element("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", alt + " Arrow keys go from point to point, plus and minus zoom, 0 shows all, " +
      "space selects a point, V all points in view, X none.");
    const tip = element("div", { className: "tip", hidden: true });
    const stage = element("div", { className: "stage" }, canvas, tip);
    figure.prepend(stage);
    figure.classList.add("live");
    const read = (text) => (text ? new Uint16Array(bytes(text)) : null);
    return {
      x: read(one.x), y: read(one.y), cluster: read(one.cluster), predicted: read(one.predicted),
      canvas, tip, stage, zoom: 1, cx: 0.5, cy: 0.5, size: 0, picture: document.createElement("canvas"),
    };
  });

  const said = element("p", { className: "sr" });
  said.setAttribute("aria-live", "polite");
  place.append(said);

  // Controls: what colours mean, what is shown.
  const controls = place.querySelector(".controls");
  const colours = facets.map((one) => [one.name, one.name]);
  if (maps.some((map) => map.predicted)) colours.push(["error", "errors stand out"]);
  if (maps.some((map) => map.cluster)) colours.push(["cluster", "cluster"]);
  const select = element("select");
  for (const [value, textContent] of colours) select.append(element("option", { value, textContent }));
  controls.append(element("label", {}, "Colour by ", select));
  const kept = element("select");
  for (const [value, textContent] of [["all", "all"], ["errors", "errors"], ["right", "right ones"]]) kept.append(element("option", { value, textContent }));
  if (maps.some((map) => map.predicted)) controls.append(element("label", {}, "Predictions ", kept));
  const only = element("select");
  only.append(element("option", { value: "-1", textContent: "any" }));
  if (!ofPapers && data.articles.length > 1 && data.articles.length <= 3000) {
    data.articles.map((name, at) => [name, at]).sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }))
      .forEach(([textContent, at]) => only.append(element("option", { value: String(at), textContent })));
    controls.append(element("label", {}, "Article ", only));
  }
  const needle = element("input", { type: "search", placeholder: ofPapers ? "paper id" : data.texts ? "article id or words" : "article id" });
  controls.append(element("label", {}, "Find ", needle));
  const lasso = element("button", { type: "button", textContent: "Select by drawing", className: "mode" });
  lasso.setAttribute("aria-pressed", "false");
  controls.append(lasso);
  const count = element("span", { className: "muted" });
  count.setAttribute("aria-live", "polite");
  controls.append(count);

  // Errors and clusters are seen beside the labels, so the first legend stays for them.
  const facetNow = () => facets.find((one) => one.name === colouring) || facets[0];
  for (const facet of facets) {
    facet.legend = place.querySelector(`.legend[data-by="${facet.name}"]`);
    [...facet.legend.children].forEach((item, at) => {
      const button = element("button", { type: "button" }, ...item.childNodes);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        if (!facet.hidden.delete(at)) facet.hidden.add(at);
        button.setAttribute("aria-pressed", String(!facet.hidden.has(at)));
        refresh();
      });
      item.replaceChildren(button);
    });
  }
  const showLegend = () => { for (const one of facets) one.legend.hidden = one !== facetNow(); };

  // What a map shows: the filters that all maps share, and whether its own encoder was right.
  const guessed = (map, at) => (map.predicted ? map.predicted[at] : ABSENT);
  const seen = (map, at) => {
    if (!visible[at] || map.x[at] === ABSENT) return false;
    if (kept.value === "all" || !map.predicted) return true;
    return guessed(map, at) !== ABSENT && (guessed(map, at) !== label[at]) === (kept.value === "errors");
  };

  const refresh = () => {
    const word = needle.value.trim().toLowerCase();
    const one = Number(only.value);
    let shown = 0;
    const fits = word ? data.articles.map((name) => name.toLowerCase().includes(word)) : null;
    for (let at = 0; at < data.n; at++) {
      const found = !fits || fits[article[at]] || (data.texts && data.texts[at].toLowerCase().includes(word));
      const wanted = facets.every((facet) => !facet.hidden.has(facet.code[at]));
      visible[at] = found && wanted && (one < 0 || article[at] === one) ? 1 : 0;
      shown += maps.some((map) => seen(map, at)) ? 1 : 0;
    }
    count.textContent = `${whole.format(shown)} of ${whole.format(data.n)} ${nouns}`;
    if (chosen >= 0 && !(choose.map && seen(choose.map, chosen))) choose(-1);
    for (const map of maps) paint(map);
  };

  // A point's middle in CSS pixels.
  const across = (map, at) => ((map.x[at] / 65534 - map.cx) * map.zoom * 0.94 + 0.5) * map.size;
  const down = (map, at) => ((0.5 - (map.y[at] / 65534 - 0.5) - map.cy) * map.zoom * 0.94 + 0.5) * map.size;

  const sprite = ([colour, shape], size, ratio) => {
    const made = document.createElement("canvas");
    made.width = made.height = Math.ceil(size * ratio);
    const brush = made.getContext("2d");
    brush.scale((size * ratio) / 12, (size * ratio) / 12);
    brush.fillStyle = colour;
    brush.fill(new Path2D(shape));
    return made;
  };

  const paint = (map) => {
    if (!map.size) return;
    const ratio = window.devicePixelRatio || 1;
    const side = Math.round(map.size * ratio);
    map.picture.width = map.picture.height = side;
    const brush = map.picture.getContext("2d");
    const size = Math.min(9, Math.max(3.5, 250 / Math.sqrt(data.n)) * Math.sqrt(map.zoom));
    const { looks: own, code } = facetNow();
    const looks = colouring === "cluster" ? data.clusters : own;
    const sprites = looks.map((look) => sprite(look, size, ratio));
    const half = (size * ratio) / 2;
    const passes = colouring === "error" ? [false, true] : [null];
    for (const wanted of passes) {
      for (let at = 0; at < data.n; at++) {
        if (!seen(map, at)) continue;
        const wrong = guessed(map, at) !== ABSENT && guessed(map, at) !== label[at];
        if (wanted !== null && wrong !== wanted) continue;
        brush.globalAlpha = wanted === false || (selected.size && !selected.has(at)) ? 0.15 : 1;
        const look = colouring === "cluster" ? (map.cluster ? map.cluster[at] : ABSENT) : code[at];
        if (look >= sprites.length) continue;
        brush.drawImage(sprites[look], across(map, at) * ratio - half, down(map, at) * ratio - half);
      }
    }
    show(map);
  };

  const show = (map) => {
    const brush = map.canvas.getContext("2d");
    brush.clearRect(0, 0, map.canvas.width, map.canvas.height);
    brush.drawImage(map.picture, 0, 0);
    map.tip.hidden = true;
    const ratio = window.devicePixelRatio || 1;
    if (map.loop) {
      brush.strokeStyle = getComputedStyle(map.canvas).color;
      brush.lineWidth = 1.5 * ratio;
      brush.setLineDash([4 * ratio, 3 * ratio]);
      brush.beginPath();
      map.loop.forEach(([x, y]) => brush.lineTo(x * ratio, y * ratio));
      brush.closePath();
      brush.stroke();
      brush.setLineDash([]);
    }
    if (chosen < 0 || !seen(map, chosen)) return;
    const [x, y] = [across(map, chosen), down(map, chosen)];
    if (x < 0 || y < 0 || x > map.size || y > map.size) return;
    brush.strokeStyle = getComputedStyle(map.canvas).color;
    brush.lineWidth = 2 * ratio;
    brush.beginPath();
    brush.arc(x * ratio, y * ratio, 7 * ratio, 0, 2 * Math.PI);
    brush.stroke();
    if (map !== choose.map) return;
    map.tip.textContent = words(map, chosen);
    map.tip.hidden = false;
    map.tip.style.left = `${Math.max(0, Math.min(x + 12, map.size - map.tip.offsetWidth))}px`;
    map.tip.style.top = `${y + 16 + map.tip.offsetHeight > map.size ? y - map.tip.offsetHeight - 12 : y + 12}px`;
  };

  const words = (map, at) => {
    const known = facets.filter((one) => one.code[at] < one.words.length).map((one) => one.words[one.code[at]]);
    const id = data.articles[article[at]];
    const parts = [...known, ...(ofPapers ? [`paper ${id}`] : [`article ${id}`, `sentence ${index[at]}`])];
    const guess = guessed(map, at);
    if (guess !== ABSENT) parts.splice(1, 0, guess === label[at] ? "predicted so" : `predicted ${data.labels[guess]}`);
    if (map.cluster && map.cluster[at] !== ABSENT) parts.push(`cluster ${map.cluster[at]}`);
    return parts.join(" · ") + (data.texts ? "\n" + data.texts[at] : "");
  };

  const choose = (at, map = null, aloud = false) => {
    if (at === chosen && map === choose.map) return;
    chosen = at;
    choose.map = map;
    for (const one of maps) show(one);
    if (aloud && at >= 0) said.textContent = words(map, at);
  };

  const nearest = (map, x, y, far, allowed = () => true) => {
    let [best, least] = [-1, far * far];
    for (let at = 0; at < data.n; at++) {
      if (!seen(map, at)) continue;
      const [dx, dy] = [across(map, at) - x, down(map, at) - y];
      const apart = dx * dx + dy * dy;
      if (apart < least && allowed(dx, dy)) [best, least] = [at, apart];
    }
    return best;
  };

  const zoom = (map, factor, x = map.size / 2, y = map.size / 2) => {
    const before = map.zoom;
    map.zoom = Math.min(60, Math.max(1, map.zoom * factor));
    const gain = (1 / before - 1 / map.zoom) / 0.94;
    map.cx += (x / map.size - 0.5) * gain;
    map.cy += (y / map.size - 0.5) * gain;
    if (map.zoom === 1) map.cx = map.cy = 0.5;
    paint(map);
  };

  // The selection: what was drawn around, or chosen by keys; told below the maps.
  const told = element("div", { className: "chosen", hidden: true });
  const summary = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([value, n]) => `${value} ${whole.format(n)}`).join(", ");
  };
  const tell = (map, most = LISTED) => {
    map.canvas.closest(".figures").after(told);
    told.hidden = !selected.size;
    const much = `${whole.format(selected.size)} ${selected.size === 1 ? noun : nouns} selected`;
    said.textContent = much;
    for (const one of maps) paint(one);
    if (!selected.size) { told.replaceChildren(); return; }
    const all = [...selected].sort((a, b) => article[a] - article[b] || index[a] - index[b]);
    const known = all.filter((at) => guessed(map, at) !== ABSENT);
    const title = (name) => (name === "label" ? "Labels" : name[0].toUpperCase() + name.slice(1));
    const lines = facets.map((one) => [title(one.name), summary(all.map((at) => one.words[one.code[at]]))]);
    if (known.length) {
      const wrong = known.filter((at) => guessed(map, at) !== label[at]).length;
      lines.push(["Predicted", summary(known.map((at) => data.labels[guessed(map, at)])) + `; ${whole.format(wrong)} wrong`]);
    }
    if (!ofPapers) lines.push(["Articles", whole.format(new Set(all.map((at) => article[at])).size)]);
    const list = element("ul", {}, ...all.slice(0, most).map((at) => element("li", { textContent: words(map, at) })));
    const clear = element("button", { type: "button", textContent: "Clear the selection" });
    clear.addEventListener("click", () => { selected.clear(); tell(map); map.canvas.focus(); });
    const more = element("button", { type: "button", textContent: `List ${LISTED} more`, hidden: all.length <= most });
    more.addEventListener("click", () => tell(map, most + LISTED));
    const terms = element("dl", { className: "facts" });
    for (const [what, value] of lines) terms.append(element("dt", { textContent: what }), element("dd", { textContent: value }));
    told.replaceChildren(element("p", {}, element("b", { textContent: much }), " ", clear), terms, list, more);
  };
  const inside = (loop, x, y) => {
    let odd = false;
    for (let a = 0, b = loop.length - 1; a < loop.length; b = a++) {
      const [[ax, ay], [bx, by]] = [loop[a], loop[b]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
    return odd;
  };
  const selectWhere = (map, test, add) => {
    if (!add) selected.clear();
    for (let at = 0; at < data.n; at++) if (seen(map, at) && test(across(map, at), down(map, at))) selected.add(at);
    tell(map);
  };
  lasso.addEventListener("click", () => {
    const on = lasso.getAttribute("aria-pressed") !== "true";
    lasso.setAttribute("aria-pressed", String(on));
    for (const map of maps) map.canvas.style.touchAction = on ? "none" : "";
  });

  for (const map of maps) {
    const { canvas } = map;
    let drag = null;
    const end = (event) => {
      drag = null;
      const { loop } = map;
      map.loop = null;
      if (loop && loop.length > 2) selectWhere(map, (x, y) => inside(loop, x, y), event.ctrlKey || event.metaKey);
      else show(map);
    };
    canvas.addEventListener("pointerdown", (event) => {
      drag = [event.offsetX, event.offsetY];
      if (!event.shiftKey && lasso.getAttribute("aria-pressed") !== "true") return;
      map.loop = [drag];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", () => { drag = map.loop = null; show(map); });
    canvas.addEventListener("pointerleave", () => { if (!map.loop) { drag = null; choose(-1); } });
    canvas.addEventListener("pointermove", (event) => {
      if (map.loop) {
        const [x, y] = map.loop[map.loop.length - 1];
        if (Math.hypot(event.offsetX - x, event.offsetY - y) > 3) map.loop.push([event.offsetX, event.offsetY]);
        show(map);
        return;
      }
      if (drag && map.zoom > 1) {
        map.cx -= (event.offsetX - drag[0]) / (map.size * map.zoom * 0.94);
        map.cy -= (event.offsetY - drag[1]) / (map.size * map.zoom * 0.94);
        drag = [event.offsetX, event.offsetY];
        paint(map);
        return;
      }
      choose(nearest(map, event.offsetX, event.offsetY, 14), map);
    });
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas) return;  // a reader who scrolls past keeps scrolling
      event.preventDefault();
      zoom(map, event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
    }, { passive: false });
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    canvas.addEventListener("keydown", (event) => {
      const way = ways[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (way) {
        const here = chosen >= 0 && seen(map, chosen);
        const [x, y] = here ? [across(map, chosen), down(map, chosen)] : [map.size / 2, map.size / 2];
        const ahead = (dx, dy) => dx * way[0] + dy * way[1] > Math.max(0.5, Math.abs(dx * way[1] + dy * way[0]));
        const at = nearest(map, x, y, Infinity, here ? ahead : () => true);
        if (at >= 0) choose(at, map, true);
      } else if (event.key === "+" || event.key === "=") zoom(map, 1.5);
      else if (event.key === "-") zoom(map, 1 / 1.5);
      else if (event.key === "0") zoom(map, 0);
      else if (event.key === "Escape") choose(-1);
      else if (event.key === " ") {
        if (chosen < 0) return;
        if (!selected.delete(chosen)) selected.add(chosen);
        tell(map);
        show(map);
      } else if (event.key === "v" || event.key === "V") {
        selectWhere(map, (x, y) => x >= 0 && y >= 0 && x <= map.size && y <= map.size, false);
      } else if (event.key === "x" || event.key === "X") { selected.clear(); tell(map); }
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => {
      map.size = canvas.clientWidth;
      canvas.width = canvas.height = Math.round(map.size * (window.devicePixelRatio || 1));
      paint(map);
    }).observe(map.stage);
  }

  select.addEventListener("input", () => { colouring = select.value; showLegend(); for (const map of maps) paint(map); });
  for (const control of [kept, only, needle]) control.addEventListener("input", refresh);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => maps.forEach(show));
  showLegend();
  refresh();
};
// Maps start when they come near the screen, so that a page of many opens at once.
const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    nearby.unobserve(entry.target);
    startMaps(entry.target);
  }
}, { rootMargin: "600px" });
for (const place of document.querySelectorAll("[data-points]")) nearby.observe(place);
