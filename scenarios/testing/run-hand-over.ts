import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { createAdoptCommand, createReleaseCommand } from '@cofferdam/product/cli/adopt/hand-over-command.ts'
import { inProcess, runUntil } from '@cofferdam/product/cli/testing/run-command.ts'
import { expect } from 'vitest'

export interface HandOverStage {
  readonly api: KubeApi
  readonly clock: Clock
  seconds(count: number): Promise<unknown>
}

export interface HandOverEnd {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `adopt …` or `release …` while time passes; interrupts it after so many seconds. */
export async function runHandOver(
  { api, clock, seconds: pass }: HandOverStage,
  words: readonly string[],
  { seconds = 60, until = new AbortController() } = {},
): Promise<HandOverEnd> {
  const { connect, links } = inProcess(api)
  const ports = { connect, clock }
  const command = words[0] === 'adopt' ? createAdoptCommand(ports) : createReleaseCommand(ports)
  let ended: HandOverEnd | undefined
  const running = runUntil(until.signal, command, ...words).then((end) => {
    ended = end
  })
  for (let second = 0; second < seconds && ended === undefined; second += 1) await pass(1)
  if (ended === undefined) until.abort()
  await pass(2)
  await running
  expect(links.opened).toBe(links.closed)
  return ended as unknown as HandOverEnd
}
