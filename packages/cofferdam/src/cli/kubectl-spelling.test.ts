import { Command, Option } from 'commander'
import { expect, it } from 'vitest'
import { fromKubectlSpelling } from './kubectl-spelling.ts'

const { options } = new Command()
  .option('--force', '')
  .option('--no-wait', '')
  .option('--reason <text>', '')
  .addOption(new Option('--dry-run [how]', '').preset('client'))

const rows: Record<string, { given: string; then: string }> = {
  'what commander reads itself stays as it is': { given: 'a --force --reason why b', then: 'a --force --reason why b' },
  'true is the flag': { given: '--force=true a', then: '--force a' },
  'false is no flag: pods would be destroyed that were not to be': { given: '--force=false a', then: 'a' },
  'the last one counts': { given: '--force --force=false', then: '' },
  'the last one counts the other way too': { given: '--force=false --force', then: '--force' },
  'false is the negated flag, where there is one': { given: '--wait=false a', then: '--no-wait a' },
  'true of a negated flag takes the negation away': { given: '--no-wait --wait=true a', then: 'a' },
  'the plain form of a negated flag changes nothing': { given: '--wait a', then: 'a' },
  'an optional value is never the name of a node': { given: '--dry-run worker-a1', then: '--dry-run=client worker-a1' },
  'an optional value after = is kept': { given: '--dry-run=server a', then: '--dry-run=server a' },
  'the value of another flag is not read': { given: '--reason --force=false', then: '--reason --force=false' },
  'what comes after -- is not read': { given: '--force -- --force=false', then: '--force -- --force=false' },
  'a value that is neither is left for commander to refuse': { given: '--force=maybe', then: '--force=maybe' },
}
it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
  expect(fromKubectlSpelling(options, given.split(' ')).join(' ')).toBe(then)
})
