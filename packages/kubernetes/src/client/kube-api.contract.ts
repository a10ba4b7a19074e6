import { afterAll, beforeAll, describe } from 'vitest'
import { describeApply } from './contract/apply.contract.ts'
import { describeCustomResources } from './contract/custom-resources.contract.ts'
import { describeDeletion } from './contract/deletion.contract.ts'
import { describeEviction } from './contract/eviction.contract.ts'
import { ContractPlay, type ContractSubject } from './contract/fixture.contract.ts'
import { describeLists } from './contract/lists.contract.ts'
import { describePatches } from './contract/patches.contract.ts'
import { describeWatches } from './contract/watches.contract.ts'
import { describeWrites } from './contract/writes.contract.ts'

/**
 * What everybody may rely on who talks through the KubeApi port, whoever answers.
 *
 * Only behaviour of a real Kubernetes API server with its controller manager is asked for. Each story works in a namespace
 * of its own and clears it away in the end, so the suite may run against a cluster that others use too.
 */
export function describeKubeApiContract(name: string, open: () => Promise<ContractSubject>): void {
  describe(`the KubeApi contract, kept by ${name}`, () => {
    const play = new ContractPlay()
    beforeAll(() => play.open(open))
    afterAll(() => play.close())

    describeWrites(play)
    describePatches(play)
    describeDeletion(play)
    describeLists(play)
    describeWatches(play)
    describeApply(play)
    describeCustomResources(play)
    describeEviction(play)
  })
}
