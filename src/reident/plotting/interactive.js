function render({model, el}) {
  let update = () => {}, mark = () => {};
  const redraw = () => { el.replaceChildren(); if (model.get("data").curves) [update, mark] = paint(model, el); };
  model.on("change:limit", () => update());
  model.on("change:release", () => mark());
  model.on("change:data", redraw);
  redraw();
}
function paint(model, el) {
  const D = model.get("data"), W = 640, H = 462, L = 76, T = 98, B = 48, R = 84;
  const [low, high] = D.y, at = v => (v - low) / (high - low), back = share => low + share * (high - low);
  // An infinite utility (null) lies at the right edge, on a logarithmic scale one of zero at the left.
  const along = v => v === null ? 1 : D.log && v <= 0 ? 0 : ((D.log ? Math.log10(v) : v) - D.x[0]) / (D.x[1] - D.x[0]);
  const within = share => Math.min(1, Math.max(0, share));
  const X = v => L + within(along(v)) * (W - L - R), Y = v => H - B - within(at(v)) * (H - T - B);
  const make = (parent, tag, a, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const k in a) e.setAttribute(k, a[k]);
    if (text !== undefined) e.textContent = text;  // never innerHTML: names come from data
    parent.append(e);
    return e;
  };
  const svg = make(el, "svg", {viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": `Risk-utility map: ${D.attack} against ${D.analysis}`});
  svg.style.cssText = "width:100%;max-width:960px;font:12px system-ui,sans-serif;touch-action:none;user-select:none;background:#fff";
  const f = v => v === null ? "?" : Math.abs(v) >= 100 ? v.toFixed(0) : String(+v.toPrecision(3));
  const still = {"pointer-events": "none"}, middle = (T + H - B) / 2;

  const above = make(svg, "rect", {x: L, y: T, width: W - L - R, fill: "#f3f3f3"});
  make(svg, "path", {d: `M${L},${T}V${H - B}H${W - R}`, fill: "none", stroke: "#000"});
  for (const [v, t] of D.xt) make(svg, "text", {x: X(v), y: H - B + 16, "text-anchor": "middle"}, t);
  for (const [v, t] of D.yt) make(svg, "text", {x: L - 6, y: Y(v) + 4, "text-anchor": "end"}, t);
  make(svg, "text", {x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle"}, D.analysis);
  make(svg, "text", {x: 14, y: middle, transform: `rotate(-90 14 ${middle})`, "text-anchor": "middle",
    "font-size": Math.min(12, 2.1 * (H - T - B) / D.attack.length)}, D.attack);
  if (D.guess !== null) {
    make(svg, "line", {x1: L, x2: W - R, y1: Y(D.guess), y2: Y(D.guess), stroke: "#444", "stroke-dasharray": "2 3"});
    make(svg, "text", {x: W - R + 4, y: Y(D.guess) + 4, fill: "#444"}, "guessing");
  }
  const advice = make(svg, "text", {x: 8, "font-weight": "bold", "font-size": 13});
  const note = make(svg, "text", {x: 8, fill: "#333"}), more = make(svg, "text", {x: 8, fill: "#333"});
  // Each in as many lines as it needs.
  const texts = [[advice, "", 82], [note, "", 90], [more, "", 90]];
  const write = (i, text) => {
    texts[i][1] = text;
    let y = 2;
    for (const [e, said, most] of texts) {
      const lines = [""];
      for (const word of said.split(" ")) {
        if ((lines.at(-1) + word).length > most) lines.push("");
        lines.push(lines.pop() + word + " ");
      }
      e.replaceChildren();
      if (said) lines.forEach(line => make(e, "tspan", {x: 8, y: y += 16}, line));
    }
  };
  const grip = make(svg, "rect", {x: L, width: W - L, height: 16, fill: "transparent", tabindex: 0, role: "slider",
    "aria-label": "tolerable risk", "aria-valuemin": f(back(0)), "aria-valuemax": f(back(1))});
  grip.style.cursor = "ns-resize";

  const passes = (p, v) => !p.refused && (p.risk_high ?? p.risk) <= v + 1e-9;
  const percent = v => `${+(100 * v).toPrecision(3)} %`;
  const points = [], groups = [], names = [], idle = "Point at a release, or drag the limit (arrow keys move it).";
  const tell = (one, two) => { write(1, one); write(2, two || ""); };
  for (const c of D.curves) {
    const g = make(svg, "g", {});
    groups.push(g);
    if (c.points.length > 1) make(g, "path", {d: "M" + c.points.map(p => X(p.utility) + "," + Y(p.risk)).join("L"), fill: "none", stroke: c.colour, "stroke-width": 1.5});
    c.points.forEach((p, i) => {
      make(g, "ellipse", {cx: (X(p.utility_low) + X(p.utility_high)) / 2, cy: (Y(p.risk_low) + Y(p.risk_high)) / 2, fill: c.colour, "fill-opacity": .14,
        rx: Math.max(2, (X(p.utility_high) - X(p.utility_low)) / 2), ry: Math.max(2, (Y(p.risk_low) - Y(p.risk_high)) / 2), ...still});
      const shade = c.points.length > 1 ? i / (c.points.length - 1) : 1, said = `${c.name}, ${p.parameter} ${p.label} ${p.unit}`.trim();
      const e = make(g, "circle", {cx: X(p.utility), cy: Y(p.risk), r: 5, fill: c.colour, "fill-opacity": .08 + .92 * shade, stroke: c.colour,
        "stroke-width": 1.5, tabindex: 0, role: "button", "aria-label": `${said}: risk ${f(p.risk)}, utility ${f(p.utility)}`});
      e.style.cursor = "pointer";
      const show = () => {
        groups.forEach(o => o.style.opacity = o === g ? 1 : .15);
        const extra = D.extra.filter(k => p[k] !== null).map(k => `${k.replaceAll("_", " ")} ${f(p[k])}`).join(", ");
        tell(`${said}: risk ${f(p.risk)} (${f(p.risk_low)} to ${f(p.risk_high)}, worst run ${f(p.risk_worst)}), utility ${f(p.utility)}, ${p.n} runs`
          + (p.n === 1 || p.undominated === null ? "" : `, on the frontier in ${percent(p.undominated)} of draws of them`),
          extra + (p.refused ? `; at least: refused by ${p.refused}` : ""));
      };
      const hide = () => { groups.forEach(o => o.style.opacity = 1); tell(idle); };
      const pick = () => { model.set("release", [c.name, p.label]); model.save_changes(); mark(); };
      for (const [on, run] of [["pointerenter", show], ["focus", show], ["pointerleave", hide], ["blur", hide], ["click", pick]]) e.addEventListener(on, run);
      e.addEventListener("keydown", k => { if (k.key === "Enter") pick(); });
      points.push({...p, name: c.name, method: c.name, circle: e});
    });
    const end = c.points.reduce((a, b) => a.risk > b.risk ? a : b);
    names.push(make(g, "text", {x: X(end.utility) - 9, y: Y(end.risk) - 7, "text-anchor": "end", "font-weight": "bold", fill: c.colour, ...still}, c.name));
  }
  // Names that meet move apart: from the lowest up, each at least a line above the one below it.
  const y = e => +e.getAttribute("y");
  names.sort((a, b) => y(b) - y(a)).forEach((e, i) => {
    for (const below of names.slice(0, i)) {
      const near = Math.abs(+below.getAttribute("x") - +e.getAttribute("x")) < 110;
      if (near && y(below) - y(e) < 14) e.setAttribute("y", y(below) - 14);
    }
  });
  const code = document.createElement("pre");
  el.append(code);

  // The limit: the most useful release within it is ringed and named, as on the printed map.
  const line = make(svg, "line", {x1: L, x2: W - R, stroke: "#000", "stroke-width": 1.5, ...still});
  const label = make(svg, "text", {x: W - R + 4, ...still}), ring = make(svg, "circle", {r: 10, fill: "none", stroke: "#000", "stroke-width": 2, ...still});
  const box = make(svg, "rect", {width: 18, height: 18, fill: "none", stroke: "#000", ...still});
  const update = () => {
    const v = model.get("limit"), y = Y(v), fit = points.filter(p => passes(p, v));
    const best = fit.length ? fit.reduce((a, b) => b.utility > a.utility ? b : a) : null;
    line.setAttribute("y1", y); line.setAttribute("y2", y); grip.setAttribute("y", y - 8);
    grip.setAttribute("aria-valuenow", f(v));
    above.setAttribute("height", Math.max(0, y - T)); label.setAttribute("y", y + 4); label.textContent = "limit " + f(v);
    ring.style.display = best ? "" : "none";
    if (best) { ring.setAttribute("cx", X(best.utility)); ring.setAttribute("cy", Y(best.risk)); }
    for (const p of points) p.circle.setAttribute("stroke-dasharray", passes(p, v) ? "none" : "2 2");
    const rule = `a risk of at most ${f(v)}`;
    write(0, best ? `Most useful with ${rule}: ${`${best.name}, ${best.parameter} ${best.label} ${best.unit}`.trim()} (risk ${f(best.risk)}, utility ${f(best.utility)})`
      : `No release of this map has ${rule}.`);
  };
  const mark = () => {
    const [method, value] = model.get("release") || [], p = points.find(p => p.method === method && p.label === value);
    box.style.display = p ? "" : "none";
    if (p) { box.setAttribute("x", X(p.utility) - 9); box.setAttribute("y", Y(p.risk) - 9); }
    code.textContent = p && p.code || "";
    code.hidden = !code.textContent;
  };
  const move = (p, done) => {
    model.set("limit", within(back(within(p)))); update(); if (done) model.save_changes();
  };
  grip.addEventListener("pointerdown", down => {
    grip.setPointerCapture(down.pointerId);
    grip.onpointermove = e => {
      const box = svg.getBoundingClientRect(), y = (e.clientY - box.top) * H / box.height;
      move((H - B - y) / (H - T - B));
    };
  });
  grip.addEventListener("pointerup", () => { grip.onpointermove = null; model.save_changes(); });
  grip.addEventListener("keydown", e => {
    const step = {ArrowUp: .02, ArrowDown: -.02}[e.key];
    if (!step) return;
    e.preventDefault();
    move(at(model.get("limit")) + step, true);
  });
  tell(idle);
  update();
  mark();
  return [update, mark];
}
