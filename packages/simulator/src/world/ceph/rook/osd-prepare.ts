import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps, jobs, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools } from '../../actor.ts'
import { isFinished, isTerminating } from '../../pod-facts.ts'
import type { CephControls, SimulatedCeph } from '../simulated-ceph.ts'
import { createDiskMaker, type OsdDevice, type PreparedOsd } from './disk-maker.ts'
import { generationAnnotation, type PrepareState, placeAnnotation, statusMapName } from './prepare-status.ts'

export interface OsdPrepareOptions {
  readonly namespace: string
  readonly ceph: Pick<SimulatedCeph, 'commands'> & { readonly controls: Pick<CephControls, 'addOsd'> }
  /** By node, or by volume claim. */
  readonly devices?: Readonly<Record<string, readonly OsdDevice[]>>
  /** How long one Job works before it has its result. Default 3 s. */
  readonly workMs?: number
  /** Whether a machine has power, as `Kubelet.isOn` says. */
  readonly isOn?: (node: string) => boolean
}

/** `dies`: its process fails without output. `mute`: it ends well, without output. `garbage`: what it writes is no JSON. */
export type PrepareFault = 'dies' | 'garbage' | 'mute' | { readonly message: string }

export interface OsdPrepare extends Actor {
  /** A disk is put in. The next prepare Job of that place finds it. */
  addDevice(place: string, device: OsdDevice): void
  /** What goes wrong there from now on; undefined: nothing. */
  setFault(place: string, fault: PrepareFault | undefined): void
}

const app = 'rook-ceph-osd-prepare'
const jobPrefix = `${app}-`
const exitWith = 'cofferdam.io/exit-code'

interface Run {
  readonly restarts: number
  readonly cancel: () => void
  state: 'working' | 'due' | 'over'
}

/**
 * What Rook's prepare Jobs do when their pods run: find the disks of their place, make OSDs of those that are none, and leave the
 * result in a ConfigMap.
 *
 * Guarantees: a disk becomes one OSD, however often its place is prepared.
 */
export function startOsdPrepare(ports: ActorPorts & OsdPrepareOptions): OsdPrepare {
  const { namespace, ceph, workMs = 3_000, isOn = () => true } = ports
  const tools = openTools('rook-ceph-osd-prepare', ports)
  const [jobView, podView, nodeView] = [tools.views.of(jobs), tools.views.of(pods), tools.views.of(nodes)]
  const disks = createDiskMaker(ceph, ports.devices ?? {})
  const faults = new Map<string, PrepareFault>()
  const runs = new Map<string, Run>()
  const queue = tools.queue({ needs: [jobView, podView, nodeView], work: follow })

  async function follow(key: string): Promise<void> {
    const pod = podView.get(key)
    const job = pod && jobOf(pod)
    if (pod === undefined || job === undefined || isTerminating(pod)) return forget(key)
    const isRunning = pod.status?.phase === 'Running' && pod.status.containerStatuses?.[0]?.state?.running !== undefined
    const restarts = pod.status?.containerStatuses?.[0]?.restartCount ?? 0
    let run = runs.get(key)
    if (run !== undefined && run.restarts !== restarts) {
      forget(key)
      run = undefined
    }
    if (run === undefined && isRunning) return begin(key, job, restarts)
    const hasRun = pod.status?.phase === 'Succeeded'
    if (run === undefined || run.state === 'over' || (run.state === 'working' && !hasRun)) return
    // A machine without power does nothing; what it was about to do is lost with it.
    if (isRunning && !isOn(pod.spec.nodeName ?? '')) return forget(key)
    if (!isRunning && !hasRun) return forget(key)
    run.state = 'over'
    await finish(pod, job)
  }

  async function begin(key: string, job: Job, restarts: number): Promise<void> {
    const cancel = tools.clock.after(workMs, () => {
      const run = runs.get(key)
      if (run?.state === 'working') run.state = 'due'
      queue.add(key)
    })
    runs.set(key, { restarts, cancel, state: 'working' })
    await writeStatus(job, text(job, 'orchestrating'))
  }

  async function finish(pod: Pod, job: Job): Promise<void> {
    const fault = faults.get(placeOf(job))
    if (fault === 'mute') return
    if (fault === 'dies') return failPod(pod)
    if (fault === 'garbage') return writeStatus(job, '{"osds": [')
    const result = fault ?? (await prepare(job))
    if (Array.isArray(result))
      return writeStatus(job, text(job, 'completed', { osds: result as readonly PreparedOsd[] }))
    await writeStatus(job, text(job, 'failed', { message: (result as { readonly message: string }).message }))
    await failPod(pod)
  }

  async function prepare(job: Job): Promise<readonly PreparedOsd[] | { readonly message: string }> {
    const place = placeOf(job)
    try {
      return await disks.prepare(place, { node: isOnVolume(job) ? undefined : nodeView.get(place) })
    } catch (error) {
      return { message: `failed to make OSDs on ${place}: ${error instanceof Error ? error.message : String(error)}` }
    }
  }

  /** As Rook's: only its own key changes, so that what the operator wrote on the ConfigMap stays. */
  async function writeStatus(job: Job, status: string): Promise<void> {
    const name = statusMapName(placeOf(job))
    for (;;) {
      try {
        await tools.api.patch(configMaps, { namespace, name }, { type: 'merge', body: { data: { status } } })
        return
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
      }
      try {
        await tools.api.create(configMaps, newStatus(job, name, status))
        return
      } catch (error) {
        if (!hasReason(error, 'AlreadyExists')) throw error
      }
    }
  }

  function newStatus(job: Job, name: string, status: string): ConfigMap {
    const generation = job.metadata.annotations?.[generationAnnotation]
    const labels = { app: 'rook-ceph-osd', status: 'provisioning', node: placeOf(job).slice(0, 63) }
    const place = { [placeAnnotation]: placeOf(job) }
    const annotations = generation === undefined ? place : { ...place, [generationAnnotation]: generation }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels, annotations }, data: { status } }
  }

  async function failPod({ metadata }: Pod): Promise<void> {
    const body = { metadata: { annotations: { [exitWith]: '1' } } }
    await tools.api.patch(pods, { namespace, name: metadata.name }, { type: 'merge', body })
  }

  function jobOf(pod: Pod): Job | undefined {
    const owner = controllerOf(pod)
    const job = owner?.kind === 'Job' ? jobView.get(`${namespace}/${owner.name}`) : undefined
    if (job === undefined || job.metadata.uid !== owner?.uid || job.metadata.labels?.['app'] !== app) return undefined
    return job.metadata.name.startsWith(jobPrefix) ? job : undefined
  }

  function forget(key: string): void {
    runs.get(key)?.cancel()
    runs.delete(key)
  }

  tools.onStop(
    podView.subscribe(({ key, after }) => {
      if (after === undefined ? runs.has(key) : isPrepared(after) && !(isFinished(after) && !runs.has(key)))
        queue.add(key)
    }),
  )
  tools.onStop(() => {
    for (const key of runs.keys()) forget(key)
  })

  function isPrepared(pod: Pod): boolean {
    return pod.metadata.namespace === namespace && controllerOf(pod)?.name.startsWith(jobPrefix) === true
  }

  return {
    stop: tools.stop,
    addDevice: (place, device) => disks.addDevice(place, device),
    setFault(place, fault) {
      if (fault === undefined) faults.delete(place)
      else faults.set(place, fault)
    },
  }
}

/** The name of the Job has only a hash of it where it is long. */
function placeOf({ metadata, spec }: Job): string {
  const node = spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
  return metadata.labels?.['ceph.rook.io/pvc'] ?? node ?? metadata.name.slice(jobPrefix.length)
}

function isOnVolume({ metadata }: Job): boolean {
  return metadata.labels?.['ceph.rook.io/pvc'] !== undefined
}

function text(job: Job, status: PrepareState, more: { osds?: readonly PreparedOsd[]; message?: string } = {}): string {
  const { osds = [], message = '' } = more
  return JSON.stringify({ osds, status, 'pvc-backed-osd': isOnVolume(job), message })
}
