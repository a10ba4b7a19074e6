import type { Emit, Model } from './model.ts'
import type { ModelState } from './state.ts'

/** What happens to the parts of a state that it touches, whatever the rest of it is. */
export interface Patch extends Partial<Omit<ModelState, 'drainers' | 'budgets'>> {
  readonly label: string
  readonly first?: ModelState['drainers'][0]
  readonly second?: ModelState['drainers'][1]
  readonly a?: ModelState['budgets'][0]
  readonly b?: ModelState['budgets'][1]
  readonly told: { readonly isFault?: boolean; readonly violation?: string | undefined } | undefined
}

/**
 * Emits what `run` does, and remembers it: states that agree in the parts it reads need not ask again.
 *
 * Assumes: `key` names everything that `run` reads.
 */
export function replay(
  { what, key }: { readonly what: Map<number, readonly Patch[]>; readonly key: number },
  state: ModelState,
  emit: Emit,
  run: (emit: Emit) => void,
): void {
  let patches = what.get(key)
  if (patches === undefined) {
    const found: Patch[] = []
    run((label, next, told) => found.push(patchBetween(state, next, label(), told)))
    patches = found
    what.set(key, patches)
  }
  for (const patch of patches) emit(() => patch.label, patched(state, patch), patch.told)
}

function patchBetween(before: ModelState, after: ModelState, label: string, told: Patch['told']): Patch {
  return {
    label,
    told,
    ...(after.ledger === before.ledger ? {} : { ledger: after.ledger }),
    ...(after.drainers[0] === before.drainers[0] ? {} : { first: after.drainers[0] }),
    ...(after.drainers[1] === before.drainers[1] ? {} : { second: after.drainers[1] }),
    ...(after.budgets[0] === before.budgets[0] ? {} : { a: after.budgets[0] }),
    ...(after.budgets[1] === before.budgets[1] ? {} : { b: after.budgets[1] }),
    ...(after.pods === before.pods ? {} : { pods: after.pods }),
    ...(after.world === before.world ? {} : { world: after.world }),
  }
}

function patched(state: ModelState, patch: Patch): ModelState {
  const { drainers, budgets } = state
  return {
    ledger: patch.ledger ?? state.ledger,
    drainers: [patch.first ?? drainers[0], patch.second ?? drainers[1]],
    budgets: [patch.a ?? budgets[0], patch.b ?? budgets[1]],
    pods: patch.pods ?? state.pods,
    world: patch.world ?? state.world,
  }
}

/** All that is remembered of one kind of happening. */
export function replaysOf({ replays }: Pick<Model, 'replays'>, kind: string): Map<number, readonly Patch[]> {
  let found = replays.get(kind)
  if (found === undefined) {
    found = new Map()
    replays.set(kind, found)
  }
  return found
}
