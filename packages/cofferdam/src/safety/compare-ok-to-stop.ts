import type { Observed } from '../shared/observed.ts'
import type { DomainVerdict } from './verdict.ts'

export interface Disagreement {
  readonly domain: string
  readonly ours: 'yes' | 'no'
  readonly cephs: 'yes' | 'no'
}

export interface ComparedOkToStop {
  /** The domains about which our maths and Ceph's own answer contradict each other, by name. */
  readonly disagreements: readonly string[]
  readonly details: readonly Disagreement[]
  /** The domains about which one of the two does not know: no contradiction, and no second yes either. */
  readonly unsure: readonly { readonly domain: string; readonly why: string }[]
}

/**
 * Holds our verdicts against Ceph's own (`osd ok-to-stop`), for the domains that Ceph was asked about.
 *
 * Neither side is taken to be right: Ceph 20.2.4 says yes where a placement group would stop serving.
 * Assumes: verdicts without a reserve, for Ceph knows none.
 */
export function compareOkToStop(input: {
  readonly verdicts: readonly DomainVerdict[]
  readonly cephSays: Readonly<Record<string, Observed<boolean>>>
}): ComparedOkToStop {
  const verdicts = new Map(input.verdicts.map(({ domain, verdict }) => [domain, verdict]))
  const details: Disagreement[] = []
  const unsure: { domain: string; why: string }[] = []
  for (const [domain, answer] of Object.entries(input.cephSays).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const verdict = verdicts.get(domain)
    if (verdict === undefined) unsure.push({ domain, why: 'it is not one of the failure domains that were checked' })
    else if (verdict.may === 'unknown') unsure.push({ domain, why: verdict.why })
    // Ceph counts copies and does not ask whether they are good: its yes is no contradiction.
    else if (verdict.may === 'no' && verdict.doubts !== undefined) unsure.push({ domain, why: 'a copy may be damaged' })
    else if (!answer.known) unsure.push({ domain, why: answer.why })
    else {
      const cephs = answer.value ? 'yes' : 'no'
      if (cephs !== verdict.may) details.push({ domain, ours: verdict.may, cephs })
    }
  }
  return { disagreements: details.map(({ domain }) => domain), details, unsure }
}
