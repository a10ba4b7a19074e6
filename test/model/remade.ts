import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import { apps, type DrainerIndex, drainerIndexes, nodeNames, nodeUid, podIndex } from './bounds.ts'
import { type Emit, type Model, withBudget, withNode, withPod, withWorld } from './model.ts'
import type { ModelState } from './state.ts'

/**
 * Nodes that are deleted and made again under the same name. At any time the Node object alone, whose machine and pods go on as
 * before; and the machine with it when it may go.
 */
export function emitRemadeNodes(model: Model, state: ModelState, emit: Emit): void {
  const { nodes, remadeNodesLeft, isDirty } = state.world.value
  for (const index of drainerIndexes) {
    const { isUp, times, isThere, boots } = nodes[index]
    const name = nodeNames[index]
    if (!isThere) {
      const next = withNode(model, state, index, {
        isThere: true,
        isUp: true,
        times: times + 1,
        boots: boots + 1,
        cordonedBy: '',
      })
      emit(() => `another ${name} is made`, next)
    }
    if (remadeNodesLeft === 0 || times > 0 || !isThere || !isUp) continue
    const left = { remadeNodesLeft: remadeNodesLeft - 1 }
    emit(
      () => `${name} is deleted and registers again`,
      withNode(model, state, index, { times: times + 1, cordonedBy: '' }, left),
    )
    const mayGo = state.drainers[index].value.record.value.phase === 'Drained'
    if (!mayGo || boots > 0) continue
    let next = withNode(
      model,
      state,
      index,
      { isThere: false, isUp: false, cordonedBy: '' },
      { ...left, isDirty: [true, isDirty[1]] },
    )
    for (const app of [0, 1]) {
      const at = podIndex(app, index)
      if (next.pods.value[at]?.state === 'runs') next = withPod(model, next, at, { state: 'fails' })
    }
    emit(() => `somebody takes ${name} away, which may go`, next)
  }
}

/**
 * Whoever keeps budgets in Git deletes one and makes it again: nothing of ours is on it, and nobody has counted it yet. An eviction
 * that was admitted before has ended by then: it would go by a budget that did not exist when it was asked for.
 */
export function emitRemadeBudget(model: Model, state: ModelState, app: 0 | 1, emit: Emit): void {
  const { remadeBudgetsLeft } = state.world.value
  const { times } = state.budgets[app].value
  const isAsked = drainerIndexes.some((node) => state.pods.value[podIndex(app, node)]?.isInFlight)
  if (remadeBudgetsLeft === 0 || times > 0 || isAsked) return
  const remade = withBudget(model, state, app, {
    times: times + 1,
    isCounted: false,
    allowed: 0,
    healthy: 0,
    disrupted: [-1, -1],
    hold: undefined,
    ownerLeft: 0,
  })
  emit(
    () => `budget ${apps[app]} is deleted and made again`,
    withWorld(model, remade, { remadeBudgetsLeft: remadeBudgetsLeft - 1 }),
  )
}

/** Nothing is done to a node for a request that was made for another one of its name. */
export function touchesAnother(
  { drainers, world }: ModelState,
  index: DrainerIndex,
  steps: readonly DisruptionStep[],
): string | undefined {
  const { nodeUid: uid } = drainers[index].value.record.value
  if (uid === undefined || uid === nodeUid(index, world.value.nodes[index].times)) return undefined
  const found = steps.find(({ step }) => step === 'cordon' || step === 'evict' || step === 'intend')
  return found && `I19 made again: ${found.step} on a node that the request is not about`
}
