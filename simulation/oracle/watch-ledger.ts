import { doClaimsConflict } from '@cofferdam/product/ledger/rules/claim.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

const rebuiltWithinMs = 60_000

/**
 * S6: no two requests hold keys that conflict, and a request says that its node may go only while it holds it. That epochs never go back is
 * a rule of the ledger's own schema.
 */
export function watchLedger({ views }: Stage, { blame }: Blame, excuses: Excuses): { look(): void; stop(): void } {
  const ledgers = views.of(disruptionLedgers)

  const stop = ledgers.subscribe(({ after }) => {
    // As it is stored: a ledger that contradicts itself is what the operator's own parser refuses to read.
    const entries = after?.status?.entries ?? []
    for (const [index, entry] of entries.entries()) {
      const rival = entries
        .slice(index + 1)
        .find((other) => other.requestId !== entry.requestId && doClaimsConflict(entry, other))
      if (rival !== undefined) blame('S6', `${entry.holder} and ${rival.holder} both held ${entry.key}`)
    }
  })

  /** Somebody deleted it: until whoever rebuilds it was able to for a minute. */
  const isForgotten = () =>
    excuses.isMeddledWith('ledger') || (excuses.wasMeddledWith('ledger') && !excuses.isAttendedFor(rebuiltWithinMs))

  return {
    stop,
    look() {
      const [ledger] = [...ledgers.values()]
      const parsed = parseLedger(ledger)
      for (const { metadata, spec, status } of views.of(nodeDisruptions).values()) {
        // Whose key an administrator took says so when it has read that.
        if (status?.phase !== 'Drained' || isForgotten() || excuses.isMeddledWith('glass')) continue
        const entries = parsed.known ? (parsed.value?.entries ?? []) : []
        const isHeld = entries.some(
          ({ requestId, key, state }) =>
            requestId === metadata.uid && key === `node/${spec.nodeName}` && state !== 'Granted',
        )
        if (!isHeld) blame('S6', `${metadata.name} said that ${spec.nodeName} may go, and did not hold it`)
      }
    },
  }
}
