import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

const attemptsMost = 10

/** Looks again where somebody wrote one of these kinds meanwhile: answers of different moments are no contradiction. */
export async function atOneMoment<T>(
  api: Pick<KubeApi, 'list'>,
  types: readonly ResourceType<KubeObject>[],
  look: () => Promise<T>,
): Promise<T> {
  const versions = async () => {
    const lists = await Promise.all(types.map((type) => api.list(type)))
    return lists
      .flatMap(({ items }) => items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`))
      .join()
  }
  for (let attempt = 1; ; attempt += 1) {
    const before = await versions()
    const found = await look()
    if (attempt === attemptsMost || (await versions()) === before) return found
  }
}
