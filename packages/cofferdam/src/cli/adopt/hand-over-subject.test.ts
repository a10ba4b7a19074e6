import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { createAdoptCommand, createReleaseCommand } from './hand-over-command.ts'

const ports = {
  clock: realClock,
  connect: () => Promise.reject(new Error('a cluster was asked')),
}
const run = (line: string) => {
  const words = line.split(' ')
  const command = words[0] === 'adopt' ? createAdoptCommand(ports) : createReleaseCommand(ports)
  return runCommand(command, ...words)
}

const both = /cephcluster\/NAMESPACE\/NAME or longhorn\/NAMESPACE/

const refused: Record<string, readonly [line: string, says: RegExp]> = {
  'with nothing names both kinds': ['adopt', both],
  'of another kind names both': ['adopt node/worker-a1', both],
  'of a bare name names both': ['release rook-ceph', both],
  'of a Longhorn without its namespace names its form': ['adopt longhorn --mode guide', /is not longhorn\/NAMESPACE/],
  'of a Longhorn with a name too many names its form': ['release longhorn/a/b', /is not longhorn\/NAMESPACE/],
  'of a Ceph cluster without its name names its form': ['adopt cephcluster/rook-ceph', /cephcluster\/NAMESPACE\/NAME/],
  'of two at once is refused: the second would be left out': ['release longhorn/a longhorn/b', /too many arguments/],
  'of a Longhorn without a mode names the modes': ['adopt longhorn/longhorn-system', /--mode guide/],
  'in a mode that there is not names those there are': ['adopt longhorn/longhorn-system --mode all', /guide/],
  'in mode observe is none': ['adopt longhorn/longhorn-system --mode observe', /Allowed choices are guide/],
  'by a policy that Longhorn does not have names those it has': [
    'adopt longhorn/longhorn-system --mode guide --policy never',
    /block-for-eviction/,
  ],
  'of a Ceph cluster with a mode is refused: it would have no effect': [
    'adopt cephcluster/a/b --mode guide',
    /--mode is for longhorn\/NAMESPACE, not for cephcluster\/NAMESPACE\/NAME/,
  ],
  'of a Longhorn with a flag of Ceph is refused': [
    'release longhorn/longhorn-system --without-successor',
    /--without-successor is for cephcluster\/NAMESPACE\/NAME/,
  ],
}

it.each(Object.entries(refused))('a hand-over %s, and no cluster is asked', async (_, [line, says]) => {
  const { code, err } = await run(line)
  expect([code, err]).toEqual([2, expect.stringMatching(says)])
})
