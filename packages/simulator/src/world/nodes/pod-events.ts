import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { EventRecorder } from '../event-recorder.ts'

export function recordStarted(recorder: EventRecorder, pod: Pod): void {
  for (const { image } of pod.spec.containers) {
    const present = `Container image "${image}" already present on machine and can be accessed by the pod`
    recorder.record(pod, 'Normal', 'Pulled', present)
    recorder.record(pod, 'Normal', 'Created', 'Container created')
    recorder.record(pod, 'Normal', 'Started', 'Container started')
  }
}

export function recordKilling(recorder: EventRecorder, pod: Pod): void {
  for (const { name } of pod.spec.containers) recorder.record(pod, 'Normal', 'Killing', `Stopping container ${name}`)
}

export function recordFailed(recorder: EventRecorder, pod: Pod, fault: string): void {
  recorder.record(pod, 'Warning', 'Failed', `Error: ${fault}`)
}

export function recordBackOff(recorder: EventRecorder, pod: Pod): void {
  recorder.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container')
}
