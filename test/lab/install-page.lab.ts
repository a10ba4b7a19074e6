import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentedFile, parseDocument, parseFiles } from '../documents/parse-document.ts'
import { done, type HelmLab, openHelmLab } from './control-plane/open-helm-lab.ts'

const page = readFileSync('docs/guide/install.md', 'utf8')
/** The namespaces that its files name. */
const named = { ceph: 'my-ceph', longhorn: 'my-longhorn' }

let lab: HelmLab
beforeAll(async () => {
  lab = await openHelmLab('install-page')
  for (const name of ['rook-ceph', 'longhorn-system', ...Object.values(named)])
    await lab.plane.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
})
afterAll(() => lab?.close())

describe('the page on installation, as it is written', () => {
  it('its helm command installs an operator with rights over the cluster that it names', async () => {
    const commands = parseDocument(page).flatMap((block) => block.commands)
    const written = commands.find(({ text }) => text.startsWith('helm install'))?.text ?? ''
    const words = written.replaceAll('\\\n', ' ').match(/'[^']*'|\S+/g) ?? []
    await done(lab.helm(...words.slice(1).map((word) => word.replaceAll("'", ''))))
    const image = ['-o', 'jsonpath={.spec.template.spec.containers[0].image}'] as const
    expect(
      await lab.kubectl('-n', operatorAccount.namespace, 'get', 'deployment', operatorAccount.name, ...image),
    ).toMatch(/^YOUR-REGISTRY\/cofferdam:\d/)
    expect(await lab.mayCreateBudgets('rook-ceph')).toBe('yes')
    await done(lab.helm('uninstall', 'cofferdam', '--namespace', operatorAccount.namespace))
  })

  it('its overlays put the rights of storage into another namespace, and into no other', async () => {
    const overlays = overlaysOf(parseFiles(page))
    expect(overlays.length).toBe(Object.keys(named).length)
    const granted: string[][] = []
    for (const [at, files] of overlays.entries()) {
      const overlay = join(lab.folder.path, `overlay-${at}`)
      cpSync('deploy', join(overlay, 'deploy'), { recursive: true })
      for (const { path, text } of files) {
        mkdirSync(dirname(join(overlay, path)), { recursive: true })
        writeFileSync(join(overlay, path), text)
      }
      await lab.kubectl('apply', '-k', overlay)
      const may = await Promise.all(
        [...Object.values(named), 'rook-ceph', 'longhorn-system'].map(async (namespace) =>
          (await lab.mayCreateBudgets(namespace)) === 'yes' ? namespace : '',
        ),
      )
      granted.push(may.filter((namespace) => namespace !== ''))
    }
    expect(granted).toEqual([[named.ceph], [named.ceph, named.longhorn]])
  })
})

/** Each ends with the file that puts all of it together. */
function overlaysOf(files: readonly DocumentedFile[]): DocumentedFile[][] {
  const overlays: DocumentedFile[][] = [[]]
  for (const file of files) {
    overlays.at(-1)?.push(file)
    if (file.path === 'kustomization.yaml') overlays.push([])
  }
  return overlays.filter((overlay) => overlay.length > 0)
}
