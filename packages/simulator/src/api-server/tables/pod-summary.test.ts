import { describe, expect, it } from 'vitest'
import { type FullPod, type PodSummary, restartsText, summarizePod } from './pod-summary.ts'

type Status = NonNullable<FullPod['status']>

function pod(parts: {
  containers?: readonly string[]
  init?: readonly { name: string; restartPolicy?: string }[]
  status?: Status
  deleted?: boolean
}): FullPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', ...(parts.deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: {
      containers: (parts.containers ?? ['web']).map((name) => ({ name })),
      ...(parts.init ? { initContainers: parts.init } : {}),
    },
    ...(parts.status ? { status: parts.status } : {}),
  }
}

type ContainerState = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>

function container(name: string, ready: boolean, state: ContainerState, restarts: [number, string?] = [0]) {
  const [restartCount, finishedAt] = restarts
  return {
    name,
    ready,
    started: ready,
    image: 'img',
    imageID: '',
    restartCount,
    state,
    ...(finishedAt === undefined ? {} : { lastState: { terminated: { exitCode: 1, finishedAt } } }),
  }
}

const running = { running: {} }
const readyTrue = { type: 'Ready', status: 'True' as const }

const scenarios: Record<string, { given: FullPod; then: Partial<PodSummary> }> = {
  'a pod nobody has scheduled is Pending with nothing ready': {
    given: pod({ status: { phase: 'Pending' } }),
    then: { ready: '0/1', status: 'Pending', restarts: 0 },
  },
  'a pod held back by a scheduling gate says so': {
    given: pod({
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
      },
    }),
    then: { status: 'SchedulingGated' },
  },
  'a pod whose containers all run and are ready is Running': {
    given: pod({ status: { phase: 'Running', containerStatuses: [container('web', true, running)] } }),
    then: { ready: '1/1', status: 'Running' },
  },
  'a container that waits for its image lends the pod its reason': {
    given: pod({
      status: {
        phase: 'Pending',
        containerStatuses: [container('web', false, { waiting: { reason: 'ImagePullBackOff' } })],
      },
    }),
    then: { ready: '0/1', status: 'ImagePullBackOff' },
  },
  'of two troubled containers the first one has the last word': {
    given: pod({
      containers: ['a', 'b'],
      status: {
        phase: 'Running',
        containerStatuses: [
          container('a', false, { waiting: { reason: 'CrashLoopBackOff' } }),
          container('b', false, { waiting: { reason: 'ErrImagePull' } }),
        ],
      },
    }),
    then: { ready: '0/2', status: 'CrashLoopBackOff' },
  },
  'a container that ended well makes the pod Completed': {
    given: pod({
      status: {
        phase: 'Succeeded',
        containerStatuses: [container('web', false, { terminated: { exitCode: 0, reason: 'Completed' } })],
      },
    }),
    then: { ready: '0/1', status: 'Completed' },
  },
  'one completed container beside a running one leaves the ready pod Running': {
    given: pod({
      containers: ['a', 'b'],
      status: {
        phase: 'Running',
        conditions: [readyTrue],
        containerStatuses: [
          container('a', false, { terminated: { exitCode: 0, reason: 'Completed' } }),
          container('b', true, running),
        ],
      },
    }),
    then: { ready: '1/2', status: 'Running' },
  },
  'the same pod before it is ready is NotReady': {
    given: pod({
      containers: ['a', 'b'],
      status: {
        phase: 'Running',
        containerStatuses: [
          container('a', false, { terminated: { exitCode: 0, reason: 'Completed' } }),
          container('b', true, running),
        ],
      },
    }),
    then: { ready: '1/2', status: 'NotReady' },
  },
  'an exit code without a reason is shown as it is': {
    given: pod({
      status: { phase: 'Failed', containerStatuses: [container('web', false, { terminated: { exitCode: 7 } })] },
    }),
    then: { status: 'ExitCode:7' },
  },
  'the second of three init containers at work is Init:1/3': {
    given: pod({
      init: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          container('a', true, { terminated: { exitCode: 0 } }),
          container('b', false, running),
          container('c', false, { waiting: { reason: 'PodInitializing' } }),
        ],
      },
    }),
    then: { ready: '0/1', status: 'Init:1/3' },
  },
  'a failed init container shows why': {
    given: pod({
      init: [{ name: 'a' }],
      status: {
        phase: 'Pending',
        initContainerStatuses: [container('a', false, { terminated: { exitCode: 1, reason: 'Error' } }, [2])],
      },
    }),
    then: { status: 'Init:Error', restarts: 2 },
  },
  'a sidecar counts among the containers of the pod': {
    given: pod({
      init: [{ name: 'proxy', restartPolicy: 'Always' }],
      status: {
        phase: 'Running',
        initContainerStatuses: [container('proxy', true, running, [3, '2026-01-01T00:00:00Z'])],
        containerStatuses: [container('web', true, running, [1, '2026-01-01T00:05:00Z'])],
      },
    }),
    then: { ready: '2/2', status: 'Running', restarts: 4, lastRestart: '2026-01-01T00:05:00Z' },
  },
  'a pod on its way out is Terminating': {
    given: pod({ deleted: true, status: { phase: 'Running', containerStatuses: [container('web', true, running)] } }),
    then: { ready: '1/1', status: 'Terminating' },
  },
  'a pod on its way out from a lost node is Unknown': {
    given: pod({ deleted: true, status: { phase: 'Running', reason: 'NodeLost' } }),
    then: { status: 'Unknown' },
  },
  'a finished pod on its way out keeps its end': {
    given: pod({ deleted: true, status: { phase: 'Failed', reason: 'Evicted' } }),
    then: { status: 'Evicted' },
  },
}

describe('a pod in one row', () => {
  for (const [sentence, { given, then }] of Object.entries(scenarios)) {
    it(sentence, () => expect(summarizePod(given)).toMatchObject(then))
  }
})

it('restarts say when the last one was, if it is known', () => {
  const summary = { ready: '1/1', status: 'Running', restarts: 4, lastRestart: '2026-01-01T00:00:00Z' }
  expect(restartsText(summary, Date.parse('2026-01-01T03:02:00Z'))).toBe('4 (3h2m ago)')
  expect(restartsText({ ...summary, lastRestart: undefined }, 0)).toBe('4')
})
