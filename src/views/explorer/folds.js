// Folding: one box for a family, a subsystem, subsystems that are alike, or a range of many things.
//
//     all --+-- stages, q, time ...
//           +-- room × 12 --+-- room --+-- setpoint, power ...
//           |               |          '-- flow[0..3] --+-- flow[0] ...
//           |               '-- room_2 ...
//           '-- link … link_30 --+-- link ...
//
// Groups are made once, for all nodes. Those of whose nodes a filter leaves one or none are passed
// over, so the same groups serve every selection.

const MOST_BOXES = 150; // a picture opens with at most so many
const MOST_CHILDREN = 60; // more are divided into ranges
const FEWEST_GUESSED = 3; // nodes whose names differ by numbers only, and that are no family

/** Kinds of groups in the order in which they open by themselves; the others wait to be asked. */
const OPENING = ["range", "subsystem", "pattern"];

class Group {
  constructor(sort, name, children, subsystem = "") {
    Object.assign(this, { sort, name, children, subsystem, parent: null, shown: 0 });
    for (const child of children) child.parent = this;
    this.size = children.reduce((sum, child) => sum + (child.size ?? 1), 0);
  }

  * members() {
    for (const child of this.children) {
      if (child instanceof Group) yield* child.members();
      else yield child;
    }
  }

  label(number = this.size) {
    if (this.sort === "alike") {
      return `${this.name} × ${this.children.reduce((sum, child) => sum + (child.shown > 0), 0)}`;
    }
    return this.sort === "subsystem" ? this.name : `${this.name} × ${number}`;
  }
}

class Folds {
  constructor(graph) {
    const bySubsystem = new Map();
    for (const node of graph.nodes) {
      if (!bySubsystem.has(node.subsystem)) bySubsystem.set(node.subsystem, []);
      bySubsystem.get(node.subsystem).push(node);
    }
    const top = [];
    const alike = new Map();
    for (const [name, nodes] of bySubsystem) {
      const children = familiesOf(nodes, name);
      if (!name) {
        top.push(...children);
        continue;
      }
      const group = new Group("subsystem", name, divided(children, name), name);
      const common = nodes[0].alike;
      if (!common) top.push(group);
      else if (alike.has(common)) alike.get(common).push(group);
      else {
        alike.set(common, [group]);
        top.push(common);
      }
    }
    const grouped = top.map((each) => {
      if (typeof each !== "string") return each;
      const groups = alike.get(each);
      return groups.length === 1 ? groups[0] : new Group("alike", each, groups);
    });
    this.root = new Group("all", "", divided(grouped, ""));
    for (const group of alike.values()) {
      if (group.length > MOST_CHILDREN) {
        const { parent } = group[0];
        const parts = divided(group, "");
        parent.inner = parts; // the label counts the subsystems, the unfolded picture shows ranges
        for (const part of parts) part.parent = parent;
      }
    }
    this.mode = "auto";
    this.byHand = new Map(); // true or false, of groups
    this.opened = new Set();
  }

  set(mode) {
    this.mode = mode;
    this.byHand.clear();
  }

  open(group) {
    this.byHand.set(group, true);
  }

  fold(group) {
    this.byHand.set(group, false);
  }

  /** Open all groups around a node; true if one was not. */
  unfold(node) {
    let isChanged = false;
    for (const group of this.around(node)) {
      if (!this.isOpen(group)) {
        this.open(group);
        isChanged = true;
      }
    }
    return isChanged;
  }

  /** Groups around a node, from the inner to the outer one, that have more nodes shown than it. */
  around(item) {
    const found = [];
    for (let group = item.parent; group && group !== this.root; group = group.parent) {
      if (group.shown > (item.shown ?? 1)) found.push(group);
    }
    return found;
  }

  isOpen(group) {
    return this.byHand.get(group) ?? this.opensByItself(group);
  }

  opensByItself(group) {
    return group === this.root || group.shown === 1 || this.mode === "unfolded" || this.opened.has(group);
  }

  /** The nodes and groups that are shown one by one, of the nodes that `isShown` leaves. */
  boxes(isShown) {
    const total = count(this.root, isShown);
    this.opened.clear();
    if (this.mode === "auto") this.openSome(total, isShown);
    return [...this.frontier(this.root, isShown, (group) => this.isOpen(group))];
  }

  * frontier(group, isShown, isOpen) {
    for (const child of group.inner || group.children) {
      if (!(child instanceof Group)) {
        if (isShown(child)) yield child;
      } else if (child.shown) {
        if (isOpen(child)) yield* this.frontier(child, isShown, isOpen);
        else yield child;
      }
    }
  }

  /** Open groups of one sort after the other, as long as the picture stays small. What was opened or
   *  folded by hand does not count, so that it changes nothing else. */
  openSome(total, isShown) {
    if (total <= MOST_BOXES) {
      const open = (group) => {
        this.opened.add(group);
        for (const child of group.inner || group.children) if (child instanceof Group) open(child);
      };
      open(this.root);
      return;
    }
    for (let isChanged = true; isChanged;) {
      isChanged = false;
      for (const sort of OPENING) {
        const boxes = [...this.frontier(this.root, isShown, (group) => this.opensByItself(group))];
        const closed = boxes.filter((box) => box.sort === sort);
        const more = closed.reduce((sum, box) => (
          sum + (box.inner || box.children).filter((c) => c.shown ?? isShown(c)).length - 1), 0);
        if (closed.length && boxes.length + more <= MOST_BOXES) {
          closed.forEach((box) => this.opened.add(box));
          isChanged = true;
          break;
        }
      }
    }
  }
}

function count(group, isShown) {
  group.shown = 0;
  for (const child of group.children) {
    group.shown += child instanceof Group ? count(child, isShown) : Number(isShown(child));
  }
  for (const part of group.inner || []) {
    part.shown = part.children.reduce((sum, child) => sum + child.shown, 0);
  }
  return group.shown;
}

/** Nodes of a subsystem, with a group for each family, and for names that differ by numbers only. */
function familiesOf(nodes, subsystem) {
  const together = new Map();
  for (const node of nodes) {
    const pattern = node.path.replace(/\d+/g, "*");
    const isNumbered = node.kind !== "stage" && pattern !== node.path;
    const key = node.family ? `family ${node.family}`
      : isNumbered ? `pattern ${node.kind} ${node.column} ${pattern}` : `node ${node.path}`;
    if (!together.has(key)) together.set(key, []);
    together.get(key).push(node);
  }
  return [...together].flatMap(([key, members]) => {
    const isFamily = key.startsWith("family ");
    const fewest = isFamily ? 2 : FEWEST_GUESSED;
    if (key.startsWith("node ") || members.length < fewest) return members;
    const name = isFamily ? members[0].family : members[0].path.replace(/\d+/g, "*");
    const own = subsystem && name.startsWith(`${subsystem}.`) ? name.slice(subsystem.length + 1) : name;
    return [isFamily ? new Group("family", own, divided(members, subsystem), subsystem)
      : patternOf(members, own, subsystem)];
  });
}

/** A group of names that differ by numbers; of very many, first groups that differ by one number. */
function patternOf(nodes, name, subsystem) {
  const numbers = nodes.map((node) => node.path.match(/\d+/g));
  const first = numbers[0].findIndex((_, place) => new Set(numbers.map((each) => each[place])).size > 1);
  const isLast = numbers[0].slice(first + 1).every((each, n) => numbers.every((all) => all[first + 1 + n] === each));
  let children = nodes;
  if (nodes.length > MOST_CHILDREN && first >= 0 && !isLast) {
    const parts = new Map();
    nodes.forEach((node, n) => {
      const key = numbers[n].slice(0, first + 1).join(" ");
      if (!parts.has(key)) parts.set(key, []);
      parts.get(key).push(node);
    });
    children = [...parts.values()].map((part) => {
      let place = -1;
      const own = ownName(part[0]).replace(/\d+/g, (digits) => ((place += 1) <= first ? digits : "*"));
      return part.length === 1 ? part[0] : new Group("pattern", own, divided(part, subsystem), subsystem);
    });
  }
  return new Group("pattern", name, divided(children, subsystem), subsystem);
}

/** Ranges in place of very many things; stages stay by themselves. */
function divided(children, subsystem) {
  if (children.length <= MOST_CHILDREN) return children;
  const stays = (child) => child.kind === "stage" || child.sort === "alike";
  const many = children.filter((child) => !stays(child));
  const size = Math.max(Math.ceil(Math.sqrt(many.length)), Math.ceil(many.length / MOST_CHILDREN));
  const ranges = [];
  for (let start = 0; start < many.length; start += size) {
    const part = many.slice(start, start + size);
    const [first, last] = [part[0], part[part.length - 1]].map((each) => each.name ?? ownName(each));
    ranges.push(part.length === 1 ? part[0]
      : new Group("range", `${first} … ${last}`, divided(part, subsystem), subsystem));
  }
  return [...children.filter(stays), ...ranges];
}

function ownName(node) {
  const prefix = node.kind === "stage" ? "stage " : node.subsystem ? `${node.subsystem}.` : "";
  return node.path.startsWith(prefix) && node.path.length > prefix.length
    ? node.path.slice(prefix.length) : node.path;
}
