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
  const hidden = new Set();
  const visible = new Uint8Array(data.n).fill(1);
  const whole = new Intl.NumberFormat("en");
  let colouring = "label";
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
    canvas.setAttribute("aria-label", alt + " Arrow keys go from point to point, plus and minus zoom, 0 shows all.");
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
  const colours = [["label", "label"]];
  if (maps.some((map) => map.predicted)) colours.push(["error", "errors stand out"]);
  if (maps.some((map) => map.cluster)) colours.push(["cluster", "cluster"]);
  const select = element("select");
  for (const [value, textContent] of colours) select.append(element("option", { value, textContent }));
  controls.append(element("label", {}, "Colour by ", select));
  const needle = element("input", { type: "search", placeholder: data.texts ? "article id or words" : "article id" });
  controls.append(element("label", {}, "Find ", needle));
  const count = element("span", { className: "muted" });
  count.setAttribute("aria-live", "polite");
  controls.append(count);

  const legend = place.querySelector(".legend");
  [...legend.children].forEach((item, at) => {
    const button = element("button", { type: "button" }, ...item.childNodes);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      if (!hidden.delete(at)) hidden.add(at);
      button.setAttribute("aria-pressed", String(!hidden.has(at)));
      refresh();
    });
    item.replaceChildren(button);
  });

  const refresh = () => {
    const word = needle.value.trim().toLowerCase();
    let shown = 0;
    const fits = word ? data.articles.map((name) => name.toLowerCase().includes(word)) : null;
    for (let at = 0; at < data.n; at++) {
      const found = !fits || fits[article[at]] || (data.texts && data.texts[at].toLowerCase().includes(word));
      visible[at] = found && !hidden.has(label[at]) ? 1 : 0;
      shown += visible[at];
    }
    count.textContent = `${whole.format(shown)} of ${whole.format(data.n)} sentences`;
    if (chosen >= 0 && !visible[chosen]) choose(-1);
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
    const looks = colouring === "cluster" ? data.clusters : data.looks;
    const sprites = looks.map((look) => sprite(look, size, ratio));
    const half = (size * ratio) / 2;
    const passes = colouring === "error" ? [false, true] : [null];
    for (const wanted of passes) {
      brush.globalAlpha = wanted === false ? 0.15 : 1;
      for (let at = 0; at < data.n; at++) {
        if (!visible[at] || map.x[at] === ABSENT) continue;
        const wrong = map.predicted && map.predicted[at] !== ABSENT && map.predicted[at] !== label[at];
        if (wanted !== null && Boolean(wrong) !== wanted) continue;
        const look = colouring === "cluster" ? (map.cluster ? map.cluster[at] : ABSENT) : label[at];
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
    if (chosen < 0 || map.x[chosen] === ABSENT) return;
    const ratio = window.devicePixelRatio || 1;
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
    const parts = [data.labels[label[at]], `article ${data.articles[article[at]]}`, `sentence ${index[at]}`];
    const guess = map.predicted ? map.predicted[at] : ABSENT;
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
      if (!visible[at] || map.x[at] === ABSENT) continue;
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

  for (const map of maps) {
    const { canvas } = map;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => { drag = [event.offsetX, event.offsetY]; });
    canvas.addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { drag = null; choose(-1); });
    canvas.addEventListener("pointermove", (event) => {
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
        const here = chosen >= 0 && map.x[chosen] !== ABSENT;
        const [x, y] = here ? [across(map, chosen), down(map, chosen)] : [map.size / 2, map.size / 2];
        const ahead = (dx, dy) => dx * way[0] + dy * way[1] > Math.max(0.5, Math.abs(dx * way[1] + dy * way[0]));
        const at = nearest(map, x, y, Infinity, here ? ahead : () => true);
        if (at >= 0) choose(at, map, true);
      } else if (event.key === "+" || event.key === "=") zoom(map, 1.5);
      else if (event.key === "-") zoom(map, 1 / 1.5);
      else if (event.key === "0") zoom(map, 0);
      else if (event.key === "Escape") choose(-1);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => {
      map.size = canvas.clientWidth;
      canvas.width = canvas.height = Math.round(map.size * (window.devicePixelRatio || 1));
      paint(map);
    }).observe(map.stage);
  }

  select.addEventListener("input", () => { colouring = select.value; for (const map of maps) paint(map); });
  needle.addEventListener("input", refresh);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => maps.forEach(show));
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
