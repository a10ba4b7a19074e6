import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { type Actor, type ActorPorts, Views } from './actor.ts'
import { type EventJanitorOptions, startEventJanitor } from './event-janitor.ts'
import { createEventSink, type EventSinkOptions } from './event-recorder.ts'
import { createKubelet, type Kubelet, type KubeletOptions } from './nodes/kubelet.ts'
import { type NodeLifecycleOptions, startNodeLifecycle } from './nodes/node-lifecycle.ts'
import { type PodCollectorOptions, startPodCollector } from './nodes/pod-collector.ts'
import { type SchedulerOptions, startScheduler } from './nodes/scheduler.ts'
import { startTaintEviction } from './nodes/taint-eviction.ts'
import { startDaemonSets } from './workloads/daemon-set.ts'
import { startDeployments } from './workloads/deployment.ts'
import { type DisruptionOptions, startDisruption } from './workloads/disruption.ts'
import { startJobs } from './workloads/job.ts'
import { startReplicaSets } from './workloads/replica-set.ts'
import { startStatefulSets } from './workloads/stateful-set.ts'

export interface WorldOptions {
  readonly scheduler?: SchedulerOptions
  readonly kubelet?: KubeletOptions
  readonly nodeLifecycle?: NodeLifecycleOptions
  readonly podCollector?: PodCollectorOptions
  readonly disruption?: DisruptionOptions
  readonly eventJanitor?: EventJanitorOptions
  readonly keepEvents?: NonNullable<EventSinkOptions['keep']>
}

export interface World extends Actor {
  readonly kubelet: Kubelet
  /** The views that all actors share, for readers beside them. */
  readonly views: Views
}

/** Everything that makes a cluster live, on one set of views: what a control plane and its machines do. */
export function startWorld(ports: Omit<ActorPorts, 'views' | 'events'> & WorldOptions): World {
  const { api, clock, random = realRandom, onFailure, keepEvents = 'all' } = ports
  const views = new Views(ports)
  const events = createEventSink({ api, clock, random: random.stream('events'), keep: keepEvents })
  const shared: ActorPorts = { api, clock, random, views, events, ...(onFailure === undefined ? {} : { onFailure }) }
  const kubelet = createKubelet({ ...shared, ...ports.kubelet })
  const actors: Actor[] = [
    startScheduler({ ...shared, ...ports.scheduler }),
    kubelet,
    startNodeLifecycle({ ...shared, ...ports.nodeLifecycle }),
    startTaintEviction(shared),
    startPodCollector({ ...shared, ...ports.podCollector }),
    startReplicaSets(shared),
    startDeployments(shared),
    startStatefulSets(shared),
    startDaemonSets(shared),
    startJobs(shared),
    startDisruption({ ...shared, ...ports.disruption }),
    startEventJanitor({ ...shared, ...ports.eventJanitor }),
  ]
  return {
    kubelet,
    views,
    stop() {
      for (const actor of actors) actor.stop()
      events.stop()
      views.stop()
    },
  }
}
