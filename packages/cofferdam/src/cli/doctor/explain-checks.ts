import { listText } from '../../shared/list-text.ts'
import type { Observed } from '../../shared/observed.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { CephFacts, DoctorSnapshot, LonghornFacts } from './doctor-snapshot.ts'

export interface Check {
  /** What was checked: `server`, `rights`, `ceph rook-ceph/rook-ceph`. */
  readonly what: string
  /** `unknown`: it may not be read, and nothing follows from it. */
  readonly state: 'ok' | 'warning' | 'problem' | 'unknown'
  readonly says: string
  /** What to do. */
  readonly wayOut?: string
}

/** What is in order, what is not, and what to do. The same snapshot gives the same checks. */
export function explainChecks(snapshot: DoctorSnapshot): readonly Check[] {
  return [
    serverCheck(snapshot),
    userCheck(snapshot),
    definitionCheck(snapshot),
    operatorCheck(snapshot),
    rightsCheck(snapshot),
    guardCheck(snapshot),
    ...snapshot.ceph.map((facts) => cephCheck(facts, snapshot.named)),
    ...(snapshot.longhorn === undefined ? [] : [longhornCheck(snapshot.longhorn)]),
    managedCheck(snapshot),
  ]
}

/** Before anything of Cofferdam is in the cluster, what is missing is no fault. */
function isInstalled({ versions: { definitions, operator } }: DoctorSnapshot): boolean {
  return operator.leader !== undefined || definitions.some(({ state }) => state === 'same' || state === 'differs')
}

const install = 'apply deploy/: kubectl apply -k deploy'

function serverCheck({ versions: { server, kubernetes }, nodes }: DoctorSnapshot): Check {
  const says = `${server} answers, Kubernetes ${kubernetes ?? 'of an unknown version'}`
  const [, minor] = /^v1\.(\d+)/.exec(kubernetes ?? '') ?? []
  if (minor !== undefined && Number(minor) < oldestMinor) {
    return {
      what: 'server',
      state: 'warning',
      says: `${says}; Cofferdam is tested with 1.${oldestMinor} and later`,
      wayOut: 'upgrade Kubernetes',
    }
  }
  if (nodes.known && nodes.value === 0) {
    return { what: 'server', state: 'warning', says: `${says}; it has no nodes`, wayOut: 'check --context' }
  }
  return { what: 'server', state: 'ok', says: nodes.known ? `${says}, ${nodes.value} nodes` : says }
}

/** policy/v1 with unhealthyPodEvictionPolicy. */
const oldestMinor = 27

function userCheck({ userLacks }: DoctorSnapshot): Check {
  return lackCheck('your rights', userLacks, {
    none: 'you may read what commands show, drain nodes and lock budgets',
    some: (names) => `you may not: ${names}`,
    state: 'warning',
    wayOut: 'ask for these rights; without them commands report what they could not read',
  })
}

function definitionCheck(snapshot: DoctorSnapshot): Check {
  const { definitions } = snapshot.versions
  const named = (state: string) => definitions.filter((each) => each.state === state).map(({ name }) => name)
  const [missing, differ, unread] = [named('missing'), named('differs'), named('unknown')]
  const what = 'CRDs'
  if (missing.length > 0) {
    const state = isInstalled(snapshot) ? 'problem' : 'warning'
    return { what, state, says: `missing: ${missing.join(', ')}`, wayOut: 'kubectl apply -f deploy/crds' }
  }
  if (differ.length > 0) {
    return {
      what,
      state: 'problem',
      says: `of another version than this program: ${differ.join(', ')}`,
      wayOut: 'kubectl apply -f deploy/crds of the version that the operator has, and use that version of this program',
    }
  }
  if (unread.length > 0) return { what, state: 'unknown', says: `may not be read: ${unread.join(', ')}` }
  return { what, state: 'ok', says: `all ${definitions.length} are of this version` }
}

function operatorCheck(snapshot: DoctorSnapshot): Check {
  const { isRunning, leader = '', version } = snapshot.versions.operator
  const what = 'operator'
  if (isRunning === undefined) return { what, state: 'unknown', says: 'its lease may not be read' }
  if (!isRunning) {
    return isInstalled(snapshot)
      ? {
          what,
          state: 'problem',
          says: 'no operator is running: drains wait, and budgets stay as they are',
          wayOut: 'see why with kubectl -n cofferdam-system describe deployment cofferdam-operator',
        }
      : { what, state: 'warning', says: 'not installed', wayOut: install }
  }
  if (version !== undefined && version !== snapshot.client) {
    return {
      what,
      state: 'warning',
      says: `${leader} leads with version ${version}; this program is ${snapshot.client}`,
      wayOut: 'use the same version of both',
    }
  }
  return { what, state: 'ok', says: `${leader} leads${version === undefined ? '' : `, version ${version}`}` }
}

function rightsCheck(snapshot: DoctorSnapshot): Check {
  if (!isInstalled(snapshot)) {
    return { what: "operator's rights", state: 'warning', says: 'not installed', wayOut: install }
  }
  return lackCheck("operator's rights", snapshot.operatorLacks, {
    none: 'its account has every right of deploy/',
    some: (names) => `its account may not: ${names}`,
    state: 'problem',
    wayOut: 'kubectl apply -f deploy/access.yaml, and the rights of the parts that you use',
  })
}

function lackCheck(
  what: string,
  lacks: Observed<readonly string[]>,
  words: {
    readonly none: string
    readonly some: (names: string) => string
    readonly state: 'warning' | 'problem'
    readonly wayOut: string
  },
): Check {
  if (!lacks.known) return { what, state: 'unknown', says: `not known: ${lacks.why}` }
  if (lacks.value.length === 0) return { what, state: 'ok', says: words.none }
  return { what, state: words.state, says: words.some(listText(lacks.value)), wayOut: words.wayOut }
}

function guardCheck(snapshot: DoctorSnapshot): Check {
  const { guard } = snapshot
  const what = 'guard'
  if (!guard.known) return { what, state: 'unknown', says: `not known: ${guard.why}` }
  if (guard.value === undefined) {
    const says = 'the eviction guard is not registered: drains of other tools do not see locks'
    return {
      what,
      state: 'warning',
      says,
      wayOut: isInstalled(snapshot) ? 'kubectl apply -f deploy/guard.yaml' : install,
    }
  }
  const { webhooks, hasCertificate, readyPods, trial } = guard.value
  if (webhooks === 0) {
    const says = 'it is registered and guards nothing: no operator has entered its webhook'
    return { what, state: 'warning', says, wayOut: 'start the operator in a pod, or with --guard-url' }
  }
  if (!hasCertificate) {
    const says = 'its webhook has no caBundle: the API server cannot trust it'
    return { what, state: 'problem', says, wayOut: 'restart the operator, which enters it again' }
  }
  if (readyPods?.known === true && readyPods.value === 0) {
    const says = 'no pod of the operator is ready to answer it'
    return { what, state: 'problem', says, wayOut: 'kubectl -n cofferdam-system get pods' }
  }
  if (!trial.known) {
    return { what, state: 'ok', says: `evictions are asked of it; whether it hears them was not tried: ${trial.why}` }
  }
  if (trial.value.isHeard) return { what, state: 'ok', says: 'it heard of an eviction that was only tried' }
  return {
    what,
    state: 'problem',
    says: `it did not hear of an eviction that was only tried: ${trial.value.says}`,
    wayOut: 'see that the API server reaches port 9443 of the operator, and that the operator is of this version',
  }
}

function cephCheck({ view, rook, hasToolbox }: CephFacts, named: readonly string[] | undefined): Check {
  const cluster = `${view.namespace}/${view.name}`
  const what = `ceph ${cluster}`
  const by = rook === undefined ? 'no Rook operator runs' : `Rook ${rook}`
  const isNamed = named?.includes(cluster) === true
  const facts = `${by}, budgets: ${view.budgets ?? 'observe'}`
  if (view.problems.length > 0) {
    return {
      what,
      state: 'warning',
      says: `${facts}; ${view.problems[0]}`,
      wayOut: `cofferdam explain cephcluster/${cluster}`,
    }
  }
  if (isNamed && !hasToolbox) {
    return {
      what,
      state: 'warning',
      says: `${facts}; no toolbox pod is ready, by which the operator asks Ceph`,
      wayOut: `deploy rook-ceph-tools in ${view.namespace}, or start the operator with --ceph-conf`,
    }
  }
  // A cluster that is only observed may be silent to the operator: nothing rests on it.
  const isUnjudged = isNamed && unjudged.includes(view.reason)
  return {
    what,
    state: isUnjudged ? 'warning' : 'ok',
    says: `${facts}: ${view.explanation}`,
    ...(isUnjudged ? { wayOut: `cofferdam explain cephcluster/${cluster}` } : {}),
  }
}

/** While Ceph is not judged, no OSD may be drained. */
const unjudged: readonly string[] = ['CephSilent', 'CephDisagrees', 'SafetyUnknown'] satisfies readonly Reason[]

function longhornCheck({ mode, policy, version, problems }: LonghornFacts): Check {
  const says = `Longhorn ${version ?? 'of an unknown version'}, mode ${mode}, policy ${policy ?? 'unknown'}`
  return problems === 0
    ? { what: 'longhorn', state: 'ok', says }
    : { what: 'longhorn', state: 'warning', says: `${says}; ${problems} problems`, wayOut: 'cofferdam status' }
}

function managedCheck({ named, ceph, longhorn }: DoctorSnapshot): Check {
  const what = 'managed'
  const storage = [
    ...(named ?? []).map((name) => `CephCluster ${name}`),
    ...(longhorn !== undefined && longhorn.mode !== 'observe' ? ['drains of Longhorn'] : []),
  ]
  const says = ['requests for nodes', ...storage].join(', ')
  const others = ceph
    .map(({ view }) => `${view.namespace}/${view.name}`)
    .filter((name) => named?.includes(name) !== true)
  if (others.length === 0) return { what, state: 'ok', says }
  return {
    what,
    state: 'ok',
    says: `${says}; only observed: CephCluster ${listText(others)}`,
    wayOut: 'to manage one, add it to --ceph-clusters of the operator, then cofferdam adopt cephcluster/NAMESPACE/NAME',
  }
}
