import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { CliCommand } from '../../command.ts'
import { createTerminal } from '../../terminal.ts'
import type { TourStep } from './tour-step.ts'
import { walkChapters } from './walk-chapters.ts'

/** Counts how often it was run, and is blocked until the third time. */
function countingCommand() {
  const runs = { count: 0 }
  const command: CliCommand<object, number> = {
    name: 'count',
    summary: 'counts',
    examples: [],
    run: async () => {
      runs.count += 1
      return runs.count
    },
    render: (count) => `counted to ${count}`,
    exitCode: (count) => (count < 3 ? 3 : 0),
  }
  return { runs, command: command as unknown as CliCommand }
}

const counting = (withinSeconds?: number): TourStep => ({
  says: 'It counts.',
  argv: ['count'],
  expects: { says: 'it counts to three', exitCode: 0, prints: /counted to 3/ },
  ...(withinSeconds === undefined ? {} : { withinSeconds }),
})

function tour(steps: readonly TourStep[], { endsAtStep }: { readonly endsAtStep?: number } = {}) {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  const ending = new AbortController()
  const { runs, command } = countingCommand()
  let printed = ''
  let waits = 0
  const api = server.as(clusterAdmin)
  const walked = walkChapters([async () => ({ title: 'Counting', steps })], {
    api,
    clock,
    terminal: createTerminal({
      stdout: { write: (text) => (printed += text) },
      stderr: { write: () => undefined },
      environment: {},
    }),
    signal: ending.signal,
    kubeconfigPath: 'none',
    commands: [command],
    calledAs: 'node bin/cofferdam.js',
    async untilNext() {
      waits += 1
      if (waits === endsAtStep) ending.abort()
    },
  })
  return { walked, clock, api, runs, waits: () => waits, printed: () => printed }
}

describe('the tour', () => {
  it('asks again until what it promised is there, and shows the command as the user would type it with its last answer', async () => {
    const { walked, clock, printed } = tour([counting(10)])
    await clock.advance(10_000)
    expect(await walked).toEqual({ chapters: 1 })
    expect(printed()).toBe(
      [
        '',
        '1. Counting',
        '',
        'It counts.',
        '  $ node bin/cofferdam.js count',
        'counted to 3',
        'As expected: it counts to three.',
        '',
      ].join('\n'),
    )
  })

  it('fails at a step that does not come out as promised in its time, and goes no further', async () => {
    const { walked, clock, runs, printed } = tour([counting(1), counting(10)])
    await clock.advance(60_000)
    expect(await walked).toEqual({
      chapters: 0,
      failure: 'Counting: expected that it counts to three, and that did not come about',
    })
    expect(runs.count).toBe(2)
    expect(printed()).toContain('counted to 2\nexit code 3\n')
  })

  it('runs a command that changes something once, or it would be done twice', async () => {
    const { walked, runs } = tour([counting()])
    expect(await walked).toMatchObject({ chapters: 0 })
    expect(runs.count).toBe(1)
  })

  it('ends when the user wants it to, before the next step', async () => {
    const { walked, runs } = tour([counting(10)], { endsAtStep: 1 })
    expect(await walked).toBeUndefined()
    expect(runs.count).toBe(0)
  })

  it('does what kubectl would do, and waits for the user before that', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-a' } }
    const step: TourStep = {
      says: 'Off.',
      kubectl: 'kubectl annotate node worker-a cofferdam.io/power=off',
      change: {
        type: nodes,
        key: { name: 'worker-a' },
        body: { metadata: { annotations: { 'cofferdam.io/power': 'off' } } },
      },
    }
    const { walked, api, waits } = tour([step])
    await api.create(nodes, node)
    expect(await walked).toEqual({ chapters: 1 })
    expect(waits()).toBe(1)
    expect((await api.get(nodes, { name: 'worker-a' })).metadata.annotations).toEqual({ 'cofferdam.io/power': 'off' })
  })
})
