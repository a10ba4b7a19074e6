import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { explainSubject } from '@cofferdam/product/cli/explain/explain-observe.ts'
import { parseSubject } from '@cofferdam/product/cli/explain/explain-subject.ts'
import { locateSubject } from '@cofferdam/product/cli/explain/locate-subject.ts'
import { openSavedCluster } from '@cofferdam/product/cli/snapshot/open-saved-cluster.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { openReader } from '@cofferdam/product/observe/reader.ts'
import { capabilities, shownOf } from '@cofferdam/product/operator/capabilities.ts'
import { largeSavedCluster, nodeName, sizeOfIt, storageNodes } from './clusters/large-saved-cluster.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const { link, clock } = openSavedCluster(largeSavedCluster(seededRandom(1)))

/** Counts what is asked of the server. */
function counted(api: KubeApi): {
  readonly api: KubeApi
  readonly requests: () => number
  readonly allPods: () => number
} {
  let requests = 0
  let allPods = 0
  return {
    requests: () => requests,
    allPods: () => allPods,
    api: {
      ...api,
      get: (type, key, options) => {
        requests += 1
        return api.get(type, key, options)
      },
      list: (type, query = {}) => {
        requests += 1
        const isWhole =
          query.namespace === undefined && query.fieldSelector === undefined && query.labelSelector === undefined
        if (type.plural === 'pods' && isWhole) allPods += 1
        return api.list(type, query)
      },
    },
  }
}

async function measure(words: readonly string[], says: string): Promise<Row[]> {
  const { api, requests, allPods } = counted(link.api)
  const { signal } = new AbortController()
  let verdict = ''
  const seconds = await cpuSecondsOf(async () => {
    const read = await openReader({ api, clock, leaseNamespace: operatorAccount.namespace, signal })
    const subject = await locateSubject(parseSubject(words, undefined), { ...read, namespace: 'default' })
    verdict = (await explainSubject(subject, { ...read, list: shownOf(capabilities) })).verdict
  })
  const what = `explain ${words.join(' ')}, ${says} (${verdict})`
  return [
    { measured: `${what}: CPU`, result: `${seconds.toFixed(2)} s`, goal: 'at most 1 s', reached: seconds <= 1 },
    {
      measured: `${what}: requests, lists of all pods`,
      result: `${requests()}, ${allPods()}`,
      goal: 'no list of all pods',
      reached: allPods() === 0,
    },
  ]
}

console.log(`${sizeOfIt}\n`)
// The first pays for code that is not compiled yet, as the command does.
printRows([
  ...(await measure([nodeName(storageNodes + 7)], 'a node with OSDs')),
  ...(await measure([nodeName(7)], 'a node with copies of Longhorn')),
  ...(await measure([nodeName(4_000)], 'a node with apps')),
  ...(await measure(['pod/team-7/app-7-0'], 'a pod of an app')),
])
