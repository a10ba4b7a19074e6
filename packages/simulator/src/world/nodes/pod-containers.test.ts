import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import type { RunningContainer } from './container-runtime.ts'
import { type PodContainer, PodContainers } from './pod-containers.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'uid-a' },
  spec: { containers: [{ name: 'main' }] },
}

function open(container: Partial<RunningContainer>) {
  const clock = new VirtualClock()
  const woken: string[] = []
  const failures: string[] = []
  const never = new Promise<never>(() => {})
  const containers = new PodContainers({
    runtime: { start: () => ({ ready: never, ended: never, stop: () => never, kill: () => {}, ...container }) },
    clock,
    wake: (key) => woken.push(key),
    onFailure: (key, error) => failures.push(`${key}: ${String(error)}`),
  })
  const started = containers.start('default/a', pod, 'node-1') as PodContainer
  return { containers, started, woken, failures, settle: () => clock.advance(0) }
}

function ending() {
  let end: (code: number) => void = () => {}
  const ended = new Promise<number>((resolve) => {
    end = resolve
  })
  return { ended, end }
}

it('a runtime that cannot stop a container has it kill it, and the pod goes when it is gone', async () => {
  const { ended, end } = ending()
  const scenario = open({ ended, stop: () => Promise.reject(new Error('no answer')), kill: () => end(137) })
  scenario.containers.stop('default/a', scenario.started, 30)
  await scenario.settle()
  expect([scenario.started.isGone, scenario.woken, scenario.failures]).toEqual([
    true,
    ['default/a'],
    ['default/a: Error: no answer'],
  ])
})

it('a container that has ended is not gone before its stop is through, so that what it cleans up is clean', async () => {
  const { ended, end } = ending()
  let stopped = () => {}
  const stop = () =>
    new Promise<void>((resolve) => {
      stopped = resolve
    })
  const scenario = open({ ended, stop })
  scenario.containers.stop('default/a', scenario.started, 30)
  end(0)
  await scenario.settle()
  expect(scenario.started.isGone).toBe(false)
  stopped()
  await scenario.settle()
  expect([scenario.started.isGone, scenario.woken]).toEqual([true, ['default/a']])
})

it('one whose end cannot be learned counts as failed, with the reason', async () => {
  const scenario = open({ ended: Promise.reject(new Error('lost the child')) })
  await scenario.settle()
  expect(scenario.started).toMatchObject({ isGone: true, exitCode: 128, fault: 'lost the child' })
})

it('one that cannot be killed does not keep the power of the others on', async () => {
  const scenario = open({
    kill: () => {
      throw new Error('no such process')
    },
  })
  scenario.containers.killOn('node-1')
  expect(scenario.failures).toEqual(['node-1 default/a: Error: no such process'])
  expect(scenario.containers.start('default/a', pod, 'node-1')).toBe('occupied')
})
