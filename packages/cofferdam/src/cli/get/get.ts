import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Paint } from '../../shared/paint.ts'
import type { CliCommand, CommandGroup, Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { addScopeFlag, askedNamespace, type ScopeFlags } from '../namespace-scope.ts'
import { pageWidth, renderTable } from '../table.ts'
import { addWatchFlag, type WatchFlags, watchResult } from '../watch-result.ts'
import { drainTable, type TableContent } from './drain-table.ts'
import { type Drains, observeDrains } from './drains-observe.ts'
import { lockTable } from './lock-table.ts'
import { type Locks, observeLockList } from './locks-observe.ts'

interface GetPorts {
  readonly connect: Connect
  readonly clock: Clock
}

export function createGetCommand(ports: GetPorts): CommandGroup {
  return {
    name: 'get',
    summary: 'list drains or locks',
    commands: [createGetDrains(ports) as CliCommand, createGetLocks(ports) as CliCommand],
  }
}

function createGetDrains(ports: GetPorts): CliCommand<WatchFlags, Drains | undefined> {
  return {
    name: 'drains',
    summary: 'list drains: requests that are not over, and nodes that other tools drain',
    description:
      'Lists the requests for nodes that are not over, with who asked for them and what blocks them, and the nodes that kubectl or another tool drains without a request. Changes nothing.',
    examples: [
      { line: 'cofferdam get drains', says: 'what is drained, for whom, and what blocks it' },
      { line: 'cofferdam get drains -w', says: 'the same, again whenever it changes' },
      { line: 'cofferdam get drains -o wide', says: 'with intent, purpose and the way out' },
    ],
    configure: (command) => void addWatchFlag(command),
    run: (invocation) =>
      answer(invocation, ports, ({ api }) => observeDrains({ api, clock: ports.clock, signal: invocation.signal })),
    render(drains, paint, isWide) {
      if (drains === undefined) return ''
      const table = drainTable(drains, { now: drains.observedAt, paint, isWide })
      return [tableText(table, isWide, emptyText(drains, 'No drains.')), ...unseen(drains, paint)].join('\n')
    },
  }
}

function createGetLocks(ports: GetPorts): CliCommand<WatchFlags & ScopeFlags, Locks | undefined> {
  return {
    name: 'locks',
    summary: "list locks: owners' locks on budgets, holds of requests, break-glass overrides",
    description:
      "Lists what is locked or held now: owners' locks on budgets, holds of requests, holds that a vanished holder left, and break-glass overrides that are in force. With -n only budgets of that namespace. Changes nothing.",
    examples: [
      { line: 'cofferdam get locks', says: 'who holds what, until when, and why' },
      { line: 'cofferdam get locks -n shop', says: 'locks and holds on the budgets of one namespace' },
      { line: 'cofferdam get locks -o wide', says: 'with what ends each, and how to override it' },
    ],
    configure: (command) => void addScopeFlag(addWatchFlag(command)),
    run(invocation) {
      const namespace = askedNamespace(invocation.flags)
      const { clock } = ports
      return answer(invocation, ports, ({ api }) =>
        observeLockList({ api, clock, namespace, signal: invocation.signal }),
      )
    },
    render(locks, paint, isWide) {
      if (locks === undefined) return ''
      const table = lockTable(locks.locks, { now: locks.observedAt, paint, isWide })
      const overrides = locks.breakGlass.map(
        ({ request, node, by, reason, until }) =>
          `${paint('red', 'break-glass:')} ${request} (${node}) overrides locks until ${until}; ${by}: ${reason}`,
      )
      return [tableText(table, isWide, emptyText(locks, 'No locks.')), ...overrides, ...unseen(locks, paint)].join('\n')
    },
  }
}

async function answer<Result extends { readonly observedAt: string }>(
  invocation: Invocation<WatchFlags>,
  { connect, clock }: GetPorts,
  observe: (link: ClusterLink) => Promise<Result>,
): Promise<Result | undefined> {
  const link = await connect(invocation.flags)
  try {
    await link.serverVersion?.(invocation.signal)
    if (invocation.flags.watch !== true) return await observe(link)
    return await watchResult(invocation, { clock, observe: () => observe(link) })
  } finally {
    await link.close()
  }
}

function tableText({ headings, rows, whole = 1 }: TableContent, isWide: boolean, empty: string): string {
  return rows.length === 0 ? empty : renderTable(headings, rows, isWide ? {} : { width: pageWidth, whole })
}

/** Nothing that could be read is not nothing. */
function emptyText({ notSeen }: { readonly notSeen: readonly string[] }, none: string): string {
  return notSeen.length === 0 ? none : 'Unknown: not everything may be read.'
}

function unseen({ notSeen }: { readonly notSeen: readonly string[] }, paint: Paint): string[] {
  return notSeen.map((what) => `${paint('yellow', 'not seen:')} ${what}`)
}
