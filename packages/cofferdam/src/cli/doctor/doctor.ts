import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { Paint } from '../../shared/paint.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import { pageWidth } from '../table.ts'
import { wrapText } from '../wrap-text.ts'
import { observeDoctor } from './doctor-observe.ts'
import { type Check, explainChecks } from './explain-checks.ts'

interface DoctorFlags {
  readonly leaseNamespace: string
}

export interface Diagnosis {
  readonly checks: readonly Check[]
  readonly observedAt: string
}

export function createDoctorCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
}): CliCommand<DoctorFlags, Diagnosis> {
  return {
    name: 'doctor',
    summary: 'check a cluster before an installation, and an installation after it',
    description:
      "Checks the server and its version, your rights and those of the operator's account, the CRDs, the operator, the eviction guard, Ceph with Rook, Longhorn, and what is managed. Each check says what to do. Changes nothing. Exit code 0: no problem, perhaps warnings; 3: a problem.",
    examples: [
      { line: 'cofferdam doctor', says: 'before an installation, and when something does not work' },
      { line: 'cofferdam doctor -o json', says: 'for scripts' },
    ],

    configure(command) {
      command.option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ flags, signal }) {
      const link = await ports.connect(flags)
      try {
        const { leaseNamespace } = flags
        const snapshot = await observeDoctor(link, { clock: ports.clock, leaseNamespace, signal })
        return { checks: explainChecks(snapshot), observedAt: snapshot.versions.observedAt }
      } finally {
        await link.close()
      }
    },

    render: renderDiagnosis,
    exitCode: ({ checks }) => (checks.some(({ state }) => state === 'problem') ? exitCodes.blocked : exitCodes.done),
  }
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', unknown: 'yellow' } as const
const stateWidth = 9

function renderDiagnosis({ checks }: Diagnosis, paint: Paint, isWide: boolean): string {
  const lines = (text: string) => (isWide ? [text] : wrapText(text, pageWidth - stateWidth))
  const indent = (line: string) => `${' '.repeat(stateWidth)}${line}`
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length
  const summary = `${count('problem')} problems, ${count('warning')} warnings, ${count('unknown')} unknown, ${count('ok')} ok`
  return [
    ...checks.map(({ what, state, says, wayOut }) => {
      const [first = '', ...more] = lines(`${paint('bold', what)}: ${says}`)
      const out = wayOut === undefined ? [] : lines(`${paint('cyan', 'do:')} ${wayOut}`)
      return [`${paint(colours[state], state.padEnd(stateWidth))}${first}`, ...[...more, ...out].map(indent)].join('\n')
    }),
    '',
    summary,
  ].join('\n')
}
