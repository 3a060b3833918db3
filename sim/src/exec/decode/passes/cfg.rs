//! Lays code out so that lower addresses come first in every execution order.
//!
//! The scheduler runs the group with the lowest pc; lanes that branched apart
//! meet again at the earliest common block if blocks are in reverse post-order
//! with the blocks of a loop together. Compilers mostly emit that order; this
//! makes it independent of them.

use crate::exec::inst::{Func, Inst, Kind, NONE};

/// Above these sizes loops are left where reverse post-order put them: order is
/// a matter of speed, and hostile input must not cost quadratic time.
const MAX_BLOCKS: usize = 20_000;
const MAX_WORK: usize = 4_000_000;
/// Above this many branches between blocks, code stays in the order of the program.
const MAX_EDGES: usize = 1_000_000;

struct Graph {
    /// First instruction of each block, and the end.
    starts: Vec<usize>,
    /// None at all if there are too many.
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    /// The block after a block that can be left at its end.
    falls: Vec<Option<usize>>,
}

fn ends(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bra | Kind::Brx | Kind::Ret | Kind::Exit | Kind::Trap
    )
}

/// Resolves labels and reorders the code of `func`. `ret` and `bra` are unguarded
/// instructions to copy.
pub(in crate::exec::decode) fn arrange(func: &mut Func, labels: &[u32], ret: Inst, bra: Inst) {
    func.code.push(ret);
    let n = func.code.len();
    let place = |label: u64| {
        let at = labels.get(label as usize).copied().unwrap_or(u32::MAX);
        (at as usize).min(n - 1)
    };
    for inst in &mut func.code {
        if inst.kind == Kind::Bra {
            inst.x = place(inst.x) as u64;
        }
    }
    for table in &mut func.tables {
        for target in table {
            *target = place(u64::from(*target)) as u32;
        }
    }
    let graph = graph(func);
    let order = match graph.succs.len() {
        0 => (0..graph.falls.len()).collect(),
        _ => order(&graph),
    };
    emit(func, &graph, &order, bra);
}

fn graph(func: &Func) -> Graph {
    let code = &func.code;
    let mut leader = vec![false; code.len() + 1];
    leader[0] = true;
    for (i, inst) in code.iter().enumerate() {
        if ends(inst.kind) {
            leader[i + 1] = true;
        }
        if inst.kind == Kind::Bra {
            leader[inst.x as usize] = true;
        }
    }
    for &target in func.tables.iter().flatten() {
        leader[target as usize] = true;
    }
    leader[code.len()] = false;
    let mut starts = Vec::new();
    let mut block_of = Vec::with_capacity(code.len());
    for (i, _) in code.iter().enumerate() {
        if leader[i] {
            starts.push(i);
        }
        block_of.push(starts.len() - 1);
    }
    let blocks = starts.len();
    starts.push(code.len());
    let mut succs = vec![Vec::new(); blocks];
    let mut preds = vec![Vec::new(); blocks];
    let mut falls = vec![None; blocks];
    let tables: Vec<Vec<usize>> = func
        .tables
        .iter()
        .map(|table| {
            let mut targets: Vec<_> = table.iter().map(|&t| block_of[t as usize]).collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    let mut edges = 0;
    for b in 0..blocks {
        let last = &code[starts[b + 1] - 1];
        let leaves = ends(last.kind) && last.guard == NONE;
        if !leaves && b + 1 < blocks {
            falls[b] = Some(b + 1);
        }
        if edges > MAX_EDGES {
            continue;
        }
        if last.kind == Kind::Bra {
            succs[b].push(block_of[last.x as usize]);
        }
        if last.kind == Kind::Brx {
            succs[b].extend(tables.get(last.x as usize).into_iter().flatten());
        }
        succs[b].extend(falls[b]);
        for &s in &succs[b] {
            preds[s].push(b);
        }
        edges += succs[b].len();
    }
    if edges > MAX_EDGES {
        succs.clear();
        preds.clear();
    }
    Graph {
        starts,
        succs,
        preds,
        falls,
    }
}

fn order(graph: &Graph) -> Vec<usize> {
    let blocks = graph.succs.len();
    let mut seen = vec![false; blocks];
    let mut post = Vec::with_capacity(blocks);
    let mut stack = vec![(0usize, 0usize)];
    seen[0] = true;
    while let Some((b, next)) = stack.last_mut() {
        // The fall-through comes last in the list and so first in the order.
        match graph.succs[*b].get(*next).copied() {
            Some(s) => {
                *next += 1;
                if !seen[s] {
                    seen[s] = true;
                    stack.push((s, 0));
                }
            }
            None => {
                post.push(*b);
                stack.pop();
            }
        }
    }
    post.reverse();
    if blocks <= MAX_BLOCKS {
        gather_loops(graph, &mut post);
    }
    post
}

/// Moves the blocks of every natural loop together, outer loops first.
fn gather_loops(graph: &Graph, order: &mut [usize]) {
    let blocks = graph.succs.len();
    let mut rank = vec![usize::MAX; blocks];
    for (i, &b) in order.iter().enumerate() {
        rank[b] = i;
    }
    let Some(idom) = dominators(graph, order, &rank) else {
        return;
    };
    let dominates = |h: usize, mut b: usize| {
        while rank[b] > rank[h] {
            b = idom[b];
        }
        b == h
    };
    let mut work = 0usize;
    let headers: Vec<usize> = order.to_vec();
    for h in headers {
        let mut inside = vec![];
        let mut is_inside = std::collections::HashSet::from([h]);
        for &b in &graph.preds[h] {
            if rank[b] != usize::MAX && rank[b] >= rank[h] && dominates(h, b) && is_inside.insert(b)
            {
                inside.push(b);
            }
        }
        let looped = !inside.is_empty() || graph.preds[h].contains(&h);
        if !looped {
            continue;
        }
        while let Some(b) = inside.pop() {
            for &p in &graph.preds[b] {
                if rank[p] != usize::MAX && is_inside.insert(p) {
                    inside.push(p);
                }
            }
        }
        work += is_inside.len() + 1;
        if work > MAX_WORK {
            return;
        }
        // Stable partition of the stretch from the header to the last member.
        let Some(first) = order.iter().position(|&b| b == h) else {
            continue;
        };
        let Some(last) = order.iter().rposition(|b| is_inside.contains(b)) else {
            continue;
        };
        let stretch = &mut order[first..=last];
        let (mut members, others): (Vec<_>, Vec<_>) =
            stretch.iter().copied().partition(|b| is_inside.contains(b));
        members.extend(others);
        stretch.copy_from_slice(&members);
        work += order.len();
    }
}

/// Immediate dominators by Cooper, Harvey and Kennedy's iteration; `None` if it
/// takes unreasonably long.
fn dominators(graph: &Graph, order: &[usize], rank: &[usize]) -> Option<Vec<usize>> {
    let mut idom = vec![usize::MAX; graph.succs.len()];
    let &entry = order.first()?;
    idom[entry] = entry;
    let mut work = 0usize;
    loop {
        let mut changed = false;
        for &b in &order[1..] {
            let mut new = usize::MAX;
            for &p in &graph.preds[b] {
                if idom[p] == usize::MAX {
                    continue;
                }
                if new == usize::MAX {
                    new = p;
                    continue;
                }
                let (mut x, mut y) = (p, new);
                while x != y {
                    while rank[x] > rank[y] {
                        x = idom[x];
                        work += 1;
                    }
                    while rank[y] > rank[x] {
                        y = idom[y];
                        work += 1;
                    }
                }
                new = x;
            }
            work += 1;
            if new != idom[b] {
                idom[b] = new;
                changed = true;
            }
        }
        if !changed {
            return Some(idom);
        }
        if work > MAX_WORK {
            return None;
        }
    }
}

fn emit(func: &mut Func, graph: &Graph, order: &[usize], bra: Inst) {
    let mut code = Vec::with_capacity(func.code.len());
    // Old start of a block to new start; every target is such a start.
    let mut moved = vec![0u32; func.code.len() + 1];
    for (i, &b) in order.iter().enumerate() {
        let next = order.get(i + 1).copied();
        moved[graph.starts[b]] = code.len() as u32;
        let body = &func.code[graph.starts[b]..graph.starts[b + 1]];
        code.extend_from_slice(body);
        let target_next = next.is_some_and(|n| {
            code.last().is_some_and(|l: &Inst| {
                l.kind == Kind::Bra && l.guard == NONE && l.x == graph.starts[n] as u64
            })
        });
        if target_next {
            code.pop();
        }
        if let Some(fall) = graph.falls[b]
            && next != Some(fall)
        {
            let line = body.last().map_or(0, |l| l.line);
            code.push(Inst {
                x: graph.starts[fall] as u64,
                line,
                ..bra
            });
        }
    }
    for inst in &mut code {
        if inst.kind == Kind::Bra {
            inst.x = u64::from(moved[inst.x as usize]);
        }
    }
    for target in func.tables.iter_mut().flatten() {
        *target = moved[*target as usize];
    }
    func.code = code;
}
