import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/**
 * Reads `cephcluster/NAMESPACE/NAME`.
 *
 * @throws CofferdamError USAGE
 */
export function parseHandOverSubject(words: readonly string[]): { readonly namespace: string; readonly name: string } {
  const text = words.join(' ')
  const [kind, namespace = '', name = '', ...more] = text.split('/')
  if (kind === 'cephcluster' && namespace !== '' && name !== '' && more.length === 0) return { namespace, name }
  throw new CofferdamError('USAGE', `"${text}" is not cephcluster/NAMESPACE/NAME`, {
    hint: 'kubectl get cephclusters -A shows those there are',
  })
}
