import { mkdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { baseLayer } from './layers/base-layer.ts'
import { cephLayer } from './layers/ceph-layer.ts'
import { nodeLayer } from './layers/node-layer.ts'
import { programLayer } from './layers/program-layer.ts'
import { type ImageContent, writeLayout } from './oci/write-layout.ts'
import { type Architecture, architectureOf, architectures } from './parts/platform.ts'
import { arrange } from './tar/entry.ts'
import { writeFolder } from './tar/write-folder.ts'

const help = `npm run image [-- options]

Builds the image of the operator, without a daemon: an OCI image layout with the tags VERSION and VERSION-ceph, of which the second has Ceph's client.
Libraries come from Debian, Node.js from npm; both are kept in ~/.cache/cofferdam/image, and fetched again when that is removed.

  --out <folder>       where the layout is written (default dist/oci)
  --arch <name>        ${architectures.join(' or ')} (default: that of this machine)
  --root <folder>      writes the files of one image into a folder instead, as the Containerfile does
  --ceph               with --root: those of the image with Ceph's client
  --help               this text`

/** `scripts/image.mjs` bundles the program first, and says where it is. */
const [bundled = '', ...words] = process.argv.slice(2)
const { values } = parseArgs({
  args: words,
  options: {
    out: { type: 'string', default: 'dist/oci' },
    arch: { type: 'string', default: architectureOf(process.arch) },
    root: { type: 'string' },
    ceph: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function contents(architecture: Architecture, version: string): Promise<readonly [ImageContent, ImageContent]> {
  const base = { brings: 'C library of Debian', entries: await baseLayer(architecture) }
  const node = { brings: 'Node.js', entries: await nodeLayer(architecture) }
  const ceph = { brings: 'client of Ceph', entries: await cephLayer(architecture) }
  const program = { brings: `cofferdam ${version}`, entries: programLayer(bundled) }
  return [
    { tag: version, layers: [base, node, program] },
    { tag: `${version}-ceph`, layers: [base, node, ceph, program] },
  ]
}

async function main(): Promise<void> {
  const architecture = architectures.find((known) => known === values.arch)
  if (architecture === undefined) throw new Error(`--arch: there is ${architectures.join(' and ')}`)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const images = await contents(architecture, version)
  if (values.root !== undefined) {
    const { tag, layers } = images[values.ceph ? 1 : 0]
    mkdirSync(values.root, { recursive: true })
    writeFolder(arrange(layers.flatMap(({ entries }) => entries)), values.root)
    console.log(`the files of cofferdam:${tag} are in ${values.root}`)
    return
  }
  const written = await writeLayout({ folder: values.out, version, architecture, images })
  for (const { tag, digest, compressedBytes } of written) {
    const megabytes = (compressedBytes / 1e6).toFixed(1)
    console.log(`cofferdam:${tag}  linux/${architecture}  ${megabytes} MB compressed  ${digest}`)
  }
  console.log(`image layout: ${values.out}`)
}

if (values.help) console.log(help)
else await main()
