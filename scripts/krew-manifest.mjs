// `node scripts/krew-manifest.mjs ARCHIVE DOWNLOADS HOMEPAGE`: prints the manifest by which krew installs `kubectl cofferdam`. ARCHIVE has the one file of
// `npm run single-file`; DOWNLOADS is the address under which the files of the release are, HOMEPAGE that of the project.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { dump } from 'js-yaml'

const [archive, downloads, homepage] = process.argv.slice(2)
if (homepage === undefined) {
  console.error('usage: node scripts/krew-manifest.mjs ARCHIVE DOWNLOADS HOMEPAGE')
  process.exit(2)
}
const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
const manifest = {
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: { name: 'cofferdam' },
  spec: {
    version: `v${version}`,
    homepage,
    shortDescription: 'Drain nodes without harm to Ceph, Longhorn and apps',
    description:
      'Says whether a node, a pod or an OSD may go now, and if not, what holds it, until when and what to do; plans the order of\nmany drains and of OSD updates; drains nodes on request, one failure domain of storage at a time. Explaining and planning\nneed nothing in the cluster; drains need the operator.\n',
    caveats: `It runs with Node.js ${engines.node.replace('>=', '')} or later, which must be in the PATH as node.\n`,
    platforms: [
      {
        // No Windows: krew starts nothing but .exe files there.
        selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
        uri: `${downloads.replace(/\/$/, '')}/${basename(archive)}`,
        sha256: createHash('sha256').update(readFileSync(archive)).digest('hex'),
        bin: 'cofferdam.mjs',
      },
    ],
  },
}
process.stdout.write(dump(manifest, { lineWidth: 140 }))
