import type { Bounds } from './bounds.ts'

const crossed = { a: [true, true], b: [true, true] } as const

/** Two drains that need the same two applications, and nobody else. */
export const crossedDrains: Bounds = {
  name: 'two drains that need the same two applications',
  stays: crossed,
  drainers: 2,
  hasFencer: false,
  ownerLocks: 0,
  evictions: 0,
  crashes: [0, 0, 0],
  mayWakeUp: false,
  isCountPrompt: false,
  lastAge: 0,
  guard: 'up',
  isCordonedBefore: false,
  mayGiveBack: false,
  glasses: 0,
  ledgerLoss: 'never',
  remadeNodes: 0,
  remadeBudgets: 0,
  hasLimit: false,
}

export const oneDrain: Bounds = { ...crossedDrains, name: 'one drain', drainers: 1 }

export const stalledDrain: Bounds = {
  ...crossedDrains,
  name: 'a drain whose process stalls anywhere and wakes up beside its successor',
  drainers: 1,
  crashes: [1, 0, 0],
  mayWakeUp: true,
  isCountPrompt: true,
}

export const silentFencer: Bounds = {
  ...crossedDrains,
  name: 'a drain, and a fencer that falls silent',
  drainers: 1,
  hasFencer: true,
  crashes: [0, 0, 1],
}

export const kubectlBeside: Bounds = {
  ...crossedDrains,
  name: 'a drain, and somebody with kubectl',
  drainers: 1,
  evictions: 1,
}

/** Counted at once: whose count lags is the matter of other stories. */
export const brokenGlass: Bounds = {
  ...crossedDrains,
  name: 'two drains, and somebody who breaks glass for one of them',
  isCountPrompt: true,
  glasses: 1,
}

export const wipedLedger: Bounds = {
  ...crossedDrains,
  name: 'two drains, and a ledger that is deleted',
  isCountPrompt: true,
  ledgerLoss: 'wiped',
}

export const restoredLedger: Bounds = {
  ...crossedDrains,
  name: 'a drain, and a ledger that is put back as it was',
  drainers: 1,
  isCountPrompt: true,
  ledgerLoss: 'restored',
}

/** One node at a time by a limit alone; copies of nodes never show a cordon in time. */
export const limitedDrains: Bounds = {
  ...crossedDrains,
  name: 'two drains that evict everything, a limit of one node, copies that are late, and a ledger that is deleted',
  stays: { a: [false, false], b: [false, false] },
  isCountPrompt: true,
  hasLimit: true,
  ledgerLoss: 'wiped',
}

export const restoredDrains: Bounds = {
  ...restoredLedger,
  name: 'two drains, and a ledger that is put back as it was',
  drainers: 2,
}

export const remadeBudgetOfTwo: Bounds = {
  ...crossedDrains,
  name: 'two drains, and a budget that is made again',
  isCountPrompt: true,
  remadeBudgets: 1,
}

export const remadeNode: Bounds = {
  ...crossedDrains,
  name: 'a drain whose node is made again',
  drainers: 1,
  remadeNodes: 1,
}

export const remadeBudget: Bounds = {
  ...crossedDrains,
  name: 'a drain whose budget is made again, and somebody with kubectl',
  drainers: 1,
  evictions: 1,
  isCountPrompt: true,
  remadeBudgets: 1,
}

/** Small enough for every test run; together they meet every actor, and every fault once. */
export const smallScenarios: readonly Bounds[] = [
  crossedDrains,
  stalledDrain,
  silentFencer,
  kubectlBeside,
  { ...kubectlBeside, name: 'a drain, somebody with kubectl, and nobody who answers for the guard', guard: 'down' },
  {
    ...crossedDrains,
    name: 'a drain that loses patience or is late, and an owner',
    drainers: 1,
    ownerLocks: 1,
    lastAge: 2,
  },
  {
    ...crossedDrains,
    name: 'two drains, one evicting what the other keeps, on nodes that others cordon and open',
    stays: { a: [true, true], b: [true, false] },
    isCountPrompt: true,
    isCordonedBefore: true,
    mayGiveBack: true,
  },
  brokenGlass,
  wipedLedger,
  restoredLedger,
  restoredDrains,
  { ...limitedDrains, name: 'two drains that evict everything, and a limit of one node', ledgerLoss: 'never' },
  remadeNode,
  remadeBudget,
  remadeBudgetOfTwo,
]

/** 3 nodes, 2 budgets, 2 drains, 1 owner, 1 fencer, a time to live of 3 ticks, and each of them crashes once. */
export const everybody: Bounds = {
  ...crossedDrains,
  name: 'everybody, one crash each',
  hasFencer: true,
  ownerLocks: 1,
  crashes: [1, 1, 1],
  isCountPrompt: true,
}

/** After everybody at once: what there is no room for beside them, each with all that it touches. */
export const fullScenarios: readonly Bounds[] = [
  everybody,
  limitedDrains,
  { ...restoredLedger, name: 'a drain, an owner, and a ledger that is put back as it was', ownerLocks: 1 },
  { ...crossedDrains, name: 'two drains, one crash each, counts that lag', crashes: [1, 1, 0] },
  { ...crossedDrains, name: 'two drains, kubectl, deadlines, counts that lag', evictions: 1, lastAge: 2 },
  { ...crossedDrains, name: 'two drains, kubectl, deadlines, the guard down', evictions: 1, lastAge: 2, guard: 'down' },
  {
    ...crossedDrains,
    name: 'two drains, pods that leave, deadlines, one crash',
    stays: { a: [true, true], b: [false, false] },
    crashes: [1, 0, 0],
    isCountPrompt: true,
    lastAge: 2,
  },
  { ...stalledDrain, name: 'a drain that stalls and wakes up, an owner, kubectl', ownerLocks: 1, evictions: 1 },
  {
    ...stalledDrain,
    name: 'a drain that stalls and wakes up, an owner, kubectl, the guard down',
    ownerLocks: 1,
    evictions: 1,
    guard: 'down',
  },
]
