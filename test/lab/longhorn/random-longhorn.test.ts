import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { LonghornState } from './longhorn-state.ts'
import { randomLonghorn } from './random-longhorn.ts'

const states = Array.from({ length: 600 }, (_, seed) => randomLonghorn(seededRandom(seed)))

/** What the generator is for: a decision is only judged about what it meets. */
const met: Readonly<Record<string, (state: LonghornState) => boolean>> = {
  'a cordoned node': ({ kubeNodes }) => kubeNodes.some(({ spec }) => spec?.unschedulable),
  'a node that a taint empties': ({ kubeNodes }) => kubeNodes.some(({ spec }) => spec?.taints !== undefined),
  'a node that Kubernetes has lost': ({ kubeNodes, nodes }) =>
    nodes.some((node) => !has(kubeNodes, node.metadata.name)),
  'a node that Longhorn has lost': ({ kubeNodes, nodes }) => kubeNodes.some((node) => !has(nodes, node.metadata.name)),
  'a node that does not answer': ({ kubeNodes }) =>
    kubeNodes.some(({ status }) => status?.conditions?.[0]?.status !== 'True'),
  'a node that a user empties': ({ nodes }) => nodes.some(({ spec }) => spec?.evictionRequested),
  'a disk that a user empties': ({ nodes }) =>
    nodes.some(({ spec }) => Object.values(spec?.disks ?? {}).some((disk) => disk.evictionRequested)),
  'an old instance manager beside a new one': ({ instanceManagers }) =>
    instanceManagers.some(({ metadata }) => metadata.name.endsWith('-old')),
  'one for the second data engine': ({ instanceManagers }) =>
    instanceManagers.some(({ spec }) => spec?.dataEngine === 'v2'),
  'one for engines alone': ({ instanceManagers }) => instanceManagers.some(({ spec }) => spec?.type === 'engine'),
  'one for replicas alone': ({ instanceManagers }) => instanceManagers.some(({ spec }) => spec?.type === 'replica'),
  'one that does not run': ({ instanceManagers }) =>
    instanceManagers.some(({ status }) => status?.currentState !== 'running'),
  'one from before 1.5 with engines': ({ instanceManagers }) =>
    instanceManagers.some(({ status }) => Object.keys(status?.instances ?? {}).length > 0),
  'one without a budget': ({ instanceManagers, budgets }) =>
    instanceManagers.some(({ metadata }) => !has(budgets, metadata.name)),
  'a budget without an instance manager': ({ instanceManagers, budgets }) =>
    budgets.some(({ metadata }) => !has(instanceManagers, metadata.name)),
  'an inactive double': ({ replicas }) => replicas.some(({ metadata }) => metadata.name.endsWith('-double')),
  'a replica that has failed': ({ replicas }) => replicas.some(({ spec }) => spec?.failedAt !== ''),
  'a replica that was never written': ({ replicas }) =>
    replicas.some(({ spec }) => spec?.healthyAt === '' && spec.failedAt === ''),
  'a replica without a place': ({ replicas }) => replicas.some(({ spec }) => spec?.nodeID === ''),
  'a replica that is being deleted': ({ replicas }) => replicas.some(({ metadata }) => metadata.deletionTimestamp),
  'replicas without their volume': ({ replicas, volumes }) =>
    replicas.some(({ spec }) => !has(volumes, spec?.volumeName ?? '')),
  'a stopped replica beside one of its volume that is not': ({ replicas }) =>
    replicas.some((one) =>
      replicas.some((other) => other.spec?.volumeName === one.spec?.volumeName && isStopped(one) && !isStopped(other)),
    ),
  'autoscaler mode': ({ settings }) => settingOf(settings, 'kubernetes-cluster-autoscaler-enabled') === 'true',
  'no drain policy': ({ settings }) => settingOf(settings, 'node-drain-policy') === undefined,
  'no default image': ({ settings }) => settingOf(settings, 'default-instance-manager-image') === undefined,
}

describe('random states of a Longhorn', () => {
  it('the same seed gives the same state, so that a difference can be seen again', () => {
    expect(randomLonghorn(seededRandom(7))).toEqual(states[7])
    expect(states[8]).not.toEqual(states[7])
  })

  it.each(Object.entries(met))('some have %s', (_, isMet) => {
    expect(states.some(isMet)).toBe(true)
  })
})

function has(objects: readonly { readonly metadata: { readonly name: string } }[], name: string): boolean {
  return objects.some(({ metadata }) => metadata.name === name)
}

function isStopped({ spec, status }: LonghornState['replicas'][number]): boolean {
  return spec?.desireState === 'stopped' && status?.currentState === 'stopped'
}

function settingOf(settings: LonghornState['settings'], name: string): string | undefined {
  return settings.find(({ metadata }) => metadata.name === name)?.value
}
