import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import {
  defaultMaintenancePolicy,
  limitsOver,
  type MaintenancePolicy,
} from '@cofferdam/product/capabilities/drain-lock/domain/maintenance-limits.ts'
import type {
  BudgetFacts,
  DisruptionSnapshot,
  PodFacts,
} from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import type { AppLock } from '@cofferdam/product/ledger/rules/app-lock.ts'
import type { BreakGlass } from '@cofferdam/product/ledger/rules/break-glass.ts'
import { known, unknown } from '@cofferdam/product/shared/observed.ts'
import type { StorageFacts } from '@cofferdam/product/shared/storage-facts.ts'
import {
  apps,
  type Bounds,
  budgetReference,
  type DrainerIndex,
  desiredHealthy,
  holderOf,
  nodeNames,
  nodeUid,
  nowMs,
  type Parts,
  podIndex,
  podName,
  replicas,
  requestIds,
  storageKey,
  storageUid,
  tickMs,
  ttl,
  zones,
} from './bounds.ts'
import { readLedger } from './lost-ledger.ts'
import type { Model } from './model.ts'
import type { Pooled } from './pool.ts'
import type { Budget, ModelState, World } from './state.ts'

const hourMs = 3_600_000

/** As in a copy that is late: whatever was done to a node is not in it. */
const openNodes = nodeNames.map((name) => ({ name, labels: {}, isReady: true, isClosed: false }))
const oneNode: MaintenancePolicy = {
  ...defaultMaintenancePolicy,
  limits: [{ name: 'all', selector: {}, per: undefined, most: { nodes: 1 } }],
}

/** What the process that looks after a request sees: everything of one moment. */
export function snapshotFor(model: Model, state: ModelState, index: DrainerIndex): DisruptionSnapshot {
  const { parts, bounds } = model
  const { record, process } = state.drainers[index].value
  const { nodes, age, fates } = state.world.value
  const node = nodes[index]
  const { ledger, lost } = readLedger(model, state)
  return {
    nowMs,
    holder: holderOf(index, process),
    request: {
      id: requestIds[index],
      name: requestIds[index],
      nodeName: nodeNames[index],
      intent: 'Reboot',
      requester: 'alice',
      reason: 'kernel',
      honourSkipDrain: true,
      accepts: [],
      createdMs: nowMs,
      fallbackAfterMs: age >= 1 ? 0 : hourMs,
      deadlineMs: age >= 2 ? nowMs : nowMs + hourMs,
      isCancelled: fates[index].deletion !== 'no',
      breakGlass: glassOf(state, requestIds[index]),
      record: record.value,
    },
    node: node.isThere
      ? {
          name: nodeNames[index],
          uid: nodeUid(index, node.times),
          bootID: `boot${node.boots}`,
          isReady: node.isUp,
          isCordoned: node.cordonedBy !== '',
          shutdownGraceSeconds: undefined,
        }
      : undefined,
    pods: podsOn(bounds, state, index),
    limits: known(limitsOver(nodeNames[index], openNodes, bounds.hasLimit ? oneNode : defaultMaintenancePolicy)),
    budgets: [budgetSeen(model, state.budgets[0], 0), budgetSeen(model, state.budgets[1], 1)],
    ledger: lost.length === 0 ? known(ledger) : unknown('the ledger has forgotten what is under way'),
    storage: [storageFacts(state.world.value, index)],
    settings: parts.settings,
  }
}

export function glassOf({ world }: ModelState, requestId: string | undefined): BreakGlass | undefined {
  const index = requestIds.indexOf(requestId as (typeof requestIds)[number])
  const glass = world.value.fates[index]?.glass ?? 'off'
  if (glass === 'off') return undefined
  return { by: 'carol', reason: 'fire', untilMs: glass === 'on' ? nowMs + hourMs : nowMs - hourMs }
}

function podsOn({ stays }: Bounds, { pods, budgets }: ModelState, index: DrainerIndex): PodFacts[] {
  const found: PodFacts[] = []
  for (const [app, name] of apps.entries()) {
    const pod = pods.value[podIndex(app, index)]
    if (pod === undefined || pod.state === 'missing' || pod.state === 'elsewhere') continue
    found.push({
      namespace: 'shop',
      name: podName(app, index),
      uid: podName(app, index),
      kind: 'ordinary',
      isReady: pod.state === 'runs',
      isLeaving: pod.state === 'leaves',
      wantsToStay: stays[name][index],
      toleratesMs: Number.POSITIVE_INFINITY,
      losses: [],
      budgetUids: [budgetReference(app as 0 | 1, budgets[app as 0 | 1].value.times).uid],
    })
  }
  return found
}

function budgetSeen({ facts, parts }: Model, { id, value }: Pooled<Budget>, app: 0 | 1): BudgetFacts {
  const seen = facts[app][id] ?? budgetFacts(parts, value, app)
  facts[app][id] = seen
  return seen
}

function budgetFacts(parts: Parts, budget: Budget, app: 0 | 1): BudgetFacts {
  const { allowed, healthy, disrupted, hold } = budget
  const until: Record<string, number> = {}
  for (const [node, left] of disrupted.entries()) if (left >= 0) until[podName(app, node)] = nowMs + left * tickMs
  return {
    ...budgetReference(app, budget.times),
    resourceVersion: '',
    isCounted: budget.isCounted,
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy,
    expectedPods: replicas,
    disruptedUntilMs: until,
    hold:
      hold === undefined
        ? undefined
        : {
            requestId: hold.requestId,
            request: hold.requestId,
            epoch: hold.epoch,
            untilMs: nowMs + hold.left * tickMs,
            reason: 'kernel',
          },
    appLock: ownerLock(parts, budget, app),
  }
}

/** The owner asks for twice of what policy allows. */
export function ownerLock(parts: Parts, { ownerLeft }: Budget, app: 0 | 1): AppLock | undefined {
  if (ownerLeft === 0) return undefined
  const sinceMs = nowMs - (ttl - ownerLeft) * tickMs
  const text = JSON.stringify({
    since: rfc3339(sinceMs),
    until: rfc3339(sinceMs + 2 * ttl * tickMs),
    holder: 'bob',
    reason: 'rebalance',
  })
  const policy = { maxTtlMs: ttl * tickMs, maxHoldMs: 4 * ttl * tickMs, maxPerNamespace: 2 }
  return parts.parseAppLock(text, { nowMs, budgetName: apps[app], policy }).lock
}

export function storageFacts({ isDirty }: World, node: 0 | 1 | 2): StorageFacts {
  const other = isDirty[node === 2 ? 0 : 1]
  return {
    key: storageKey,
    uid: storageUid,
    failureDomain: zones[node],
    mayGo: known({ allowed: !other, explanation: 'Another failure domain is not whole.' }),
    isClean: known(!isDirty[0] && !isDirty[1]),
  }
}
