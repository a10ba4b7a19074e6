import { realRandom } from '../runtime/random.ts'
import { type Actor, type ActorPorts, Views } from './actor.ts'
import { startDaemonSets } from './daemon-set.ts'
import { startDeployments } from './deployment.ts'
import { type DisruptionOptions, startDisruption } from './disruption.ts'
import { type EventJanitorOptions, startEventJanitor } from './event-janitor.ts'
import { createEventSink, type EventSinkOptions } from './event-recorder.ts'
import { startJobs } from './job.ts'
import { createKubelet, type Kubelet, type KubeletOptions } from './kubelet.ts'
import { type NodeLifecycleOptions, startNodeLifecycle } from './node-lifecycle.ts'
import { type PodCollectorOptions, startPodCollector } from './pod-collector.ts'
import { startReplicaSets } from './replica-set.ts'
import { type SchedulerOptions, startScheduler } from './scheduler.ts'
import { startStatefulSets } from './stateful-set.ts'
import { startTaintEviction } from './taint-eviction.ts'

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
  const events = createEventSink({ api, clock, random, keep: keepEvents })
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
