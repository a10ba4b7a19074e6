import type { Container, ContainerStatus, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { timeSince } from './human-duration.ts'

type State = NonNullable<ContainerStatus['state']>

interface FullContainerStatus extends Omit<ContainerStatus, 'state'> {
  readonly state?: State & { readonly terminated?: { readonly signal?: number } }
}

/** The fields of a pod that the summary reads beyond those the project itself works with. */
export interface FullPod extends Pod {
  readonly spec: Omit<Pod['spec'], 'initContainers'> & {
    readonly initContainers?: readonly (Container & { readonly restartPolicy?: string })[]
    readonly readinessGates?: readonly { readonly conditionType: string }[]
  }
  readonly status?: Omit<NonNullable<Pod['status']>, 'containerStatuses'> & {
    readonly containerStatuses?: readonly FullContainerStatus[]
    readonly initContainerStatuses?: readonly FullContainerStatus[]
    readonly podIPs?: readonly { readonly ip?: string }[]
    readonly nominatedNodeName?: string
  }
}

export interface PodSummary {
  readonly ready: string
  /** One word for how the pod is: its phase, or the most specific reason of a container. */
  readonly status: string
  readonly restarts: number
  readonly lastRestart: string | undefined
}

interface Restarts {
  readonly count: number
  readonly last: string | undefined
}

const noRestarts: Restarts = { count: 0, last: undefined }

export function summarizePod(pod: FullPod): PodSummary {
  const sidecars = new Set(
    (pod.spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map(({ name }) => name),
  )
  const init = summarizeInit(pod, sidecars)
  const initialized = isTrue(pod, 'Initialized')
  const main =
    init.waitingFor === undefined || initialized ? summarizeMain(pod, init.waitingFor ?? phaseReason(pod)) : undefined
  const restarts = main === undefined ? init.restarts : merge(init.sidecarRestarts, main.restarts)
  return {
    ready: `${init.readySidecars + (main?.ready ?? 0)}/${pod.spec.containers.length + sidecars.size}`,
    status: deletionReason(pod) ?? main?.reason ?? init.waitingFor ?? phaseReason(pod),
    restarts: restarts.count,
    lastRestart: restarts.last,
  }
}

export function restartsText(summary: PodSummary, nowMs: number): string {
  return summary.restarts === 0 || summary.lastRestart === undefined
    ? String(summary.restarts)
    : `${summary.restarts} (${timeSince(summary.lastRestart, nowMs)} ago)`
}

function phaseReason({ status }: FullPod): string {
  const gated = status?.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated')
  return gated ? 'SchedulingGated' : status?.reason || status?.phase || ''
}

function deletionReason({ metadata, status }: FullPod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined
  if (status?.reason === 'NodeLost') return 'Unknown'
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : 'Terminating'
}

function summarizeInit(pod: FullPod, sidecars: ReadonlySet<string>) {
  let restarts = noRestarts
  let sidecarRestarts = noRestarts
  let readySidecars = 0
  for (const [index, container] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name)
    restarts = merge(restarts, restartsOf(container))
    if (isSidecar) sidecarRestarts = merge(sidecarRestarts, restartsOf(container))
    const { terminated, waiting } = container.state ?? {}
    if (terminated?.exitCode === 0) continue
    if (isSidecar && container.started === true) {
      if (container.ready) readySidecars += 1
      continue
    }
    const waitingFor =
      terminated !== undefined
        ? `Init:${terminationReason(terminated)}`
        : waiting?.reason && waiting.reason !== 'PodInitializing'
          ? `Init:${waiting.reason}`
          : `Init:${index}/${pod.spec.initContainers?.length ?? 0}`
    return { restarts, sidecarRestarts, readySidecars, waitingFor }
  }
  return { restarts, sidecarRestarts, readySidecars, waitingFor: undefined }
}

function summarizeMain(pod: FullPod, reasonSoFar: string) {
  let reason = reasonSoFar
  let errorReason: string | undefined
  let restarts = noRestarts
  let ready = 0
  // From the last to the first, so that the first container takes precedence.
  for (const container of (pod.status?.containerStatuses ?? []).toReversed()) {
    restarts = merge(restarts, restartsOf(container))
    const { terminated, waiting, running } = container.state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated !== undefined) {
      reason = terminationReason(terminated)
      if (terminated.exitCode !== 0) errorReason = reason
    } else if (container.ready && running !== undefined) ready += 1
  }
  if (reason === 'Completed') {
    if (ready > 0 && isTrue(pod, 'Ready')) reason = 'Running'
    else if (errorReason !== undefined) reason = errorReason
    else if (ready > 0) reason = 'NotReady'
  }
  return { reason, restarts, ready }
}

function terminationReason(terminated: { exitCode: number; reason?: string; signal?: number }): string {
  return terminated.reason || (terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`)
}

function restartsOf(container: FullContainerStatus): Restarts {
  return { count: container.restartCount, last: container.lastState?.terminated?.finishedAt }
}

function merge(left: Restarts, right: Restarts): Restarts {
  const last = left.last === undefined || (right.last !== undefined && right.last > left.last) ? right.last : left.last
  return { count: left.count + right.count, last }
}

function isTrue({ status }: FullPod, type: string): boolean {
  return status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false
}
