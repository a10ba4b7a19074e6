// `npm run test:lab`: everything again on a real Kubernetes and a real Ceph. Fetches and builds what is missing, runs the
// suites, and leaves nothing running. Words after the options choose suites by name; `--help` tells the rest.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { external } from './bundle.mjs'

const releases = ['16', '18', '20']
/** Names of the projects in vitest.lab.config.ts. */
const groups = ['together', 'alone']
/** Suites of the project `named`: each runs alone, where it is named. */
const named = ['ceph-timing', 'image-arm64', 'real-node']
const help = `npm run test:lab [-- [options] [suite ...]]

Runs the suites of test/lab against real etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and Ceph daemons.
The first run builds Kubernetes from its Go modules (7 to 10 minutes on two cores, 5 GB) and installs or unpacks Debian's Ceph;
suites called rook-* also have Rook's own code built (2 to 3 minutes), longhorn-oracle, longhorn-brain and longhorn-engine that of
Longhorn (about 5 minutes), the last of them its engine too (2 to 3 minutes, with a C compiler), helm and install-page that of Helm (3 to 5 minutes),
uninstall those of Rook and Helm, real-node a kubelet, containerd and Helm (1 to 6 minutes). Later runs find all of it. Programs in $KUBEBUILDER_ASSETS are used where that is set.

Three suites run only where one of them is named, alone: real-node, which puts real nodes on this machine in namespaces of their own,
image-arm64, which runs the image of another architecture by emulation, and ceph-timing, which waits minutes for the periods that Ceph has by default.

  suite              part of a suite's name, as in: npm run test:lab -- ceph-drain
  --ceph <release>   ${releases.join(', ')}: which Ceph to run (default 16, the one of Debian 12)
  --only <group>     ${groups.join(' or ')}: those that run side by side, or those that measure and run one at a time; absent: both
  --prepare          only fetch and build
  --help             this text

Logs of the last run of every suite: .cofferdam/lab/<suite>/, of which journal.log tells who did what and when.`

function chosen() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        ceph: { type: 'string', default: '16' },
        only: { type: 'string' },
        prepare: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    console.error(`${error.message}\n\n${help}`)
    process.exit(2)
  }
}

const { values, positionals } = chosen()
if (values.help) {
  console.log(help)
  process.exit(0)
}
if (!releases.includes(values.ceph)) {
  console.error(`--ceph: there is no release ${values.ceph} here; there are: ${releases.join(', ')}.`)
  process.exit(2)
}
if (values.only !== undefined && !groups.includes(values.only)) {
  console.error(`--only: there is no group ${values.only} here; there are: ${groups.join(', ')}.`)
  process.exit(2)
}
if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) {
  console.error('The lab takes its Ceph from Debian packages: it needs Debian 12 or a system made from it.')
  process.exit(2)
}

// Whoever is told to end waits for what it started, so that nothing outlives it.
const children = new Set()
let told
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    told ??= signal
    for (const child of children) child.kill(signal)
    void setTimeout(5_000, undefined, { ref: false }).then(() => {
      for (const child of children) child.kill('SIGKILL')
    })
  })
}

function run(command, args, env = {}) {
  return new Promise((resolve) => {
    // The kernel ends it when this process is killed.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', command, ...args], {
      stdio: 'inherit',
      env: { ...process.env, ...env },
    })
    children.add(child)
    child.on('exit', (code, signal) => {
      children.delete(child)
      resolve(code ?? 128 + (constants.signals[signal] ?? 0))
    })
  })
}

/** Modules look for the files beside them where they stand in the checkout, not where the bundle does. */
const atTheirPlaces = {
  name: 'at-their-places',
  setup({ onLoad }) {
    onLoad({ filter: /test\/lab\/.*\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }))
  },
}

async function main() {
  await build({
    entryPoints: ['test/lab/prepare.ts'],
    outfile: 'dist/lab/prepare.js',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external,
    logLevel: 'warning',
    plugins: [atTheirPlaces],
  })
  const prepared = await run(process.execPath, ['dist/lab/prepare.js', values.ceph, ...positionals])
  if (prepared !== 0 || values.prepare || told) return prepared
  // Not through npx, which would stand between the signals and the suites.
  const report = '.cofferdam/lab/report.json'
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.lab.config.ts']
  const reporters = ['--reporter=default', '--reporter=./scripts/closing-line-reporter.mjs', '--reporter=json']
  const isNamed = positionals.length === 1 && named.includes(positionals[0])
  const isRealNode = isNamed && positionals[0] === 'real-node'
  const asked = values.only === undefined ? groups : [values.only]
  // The steps of these follow from each other.
  const projects = isNamed ? ['--project=named', '--bail=1'] : asked.map((group) => `--project=${group}`)
  if (isRealNode) {
    // Inside there is no network to fetch anything from.
    const image = await run(process.execPath, ['scripts/image.mjs', '--out', '.cofferdam/real-node/image'])
    if (image !== 0 || told) return image
  }
  const suites = (names) => {
    const command = [process.execPath, ...vitest, ...reporters, `--outputFile.json=${report}`, ...projects, ...names]
    const [program, ...args] = isRealNode ? ['sh', 'test/lab/real-node/own-machine.sh', ...command] : command
    return run(program, args, { COFFERDAM_LAB_CEPH: values.ceph })
  }
  const code = await suites(positionals)
  if (code === 0 || told || !existsSync(report)) return code
  // Dozens of real daemons share a few cores, and one may stumble: what fails twice, in two labs, is a fault.
  const { testResults } = JSON.parse(await readFile(report, 'utf8'))
  const failed = testResults.filter(({ status }) => status !== 'passed').map(({ name }) => relative('.', name))
  if (failed.length === 0) return code
  console.log(`\nlab: once more in a lab of their own: ${failed.join(', ')}`)
  return suites(failed)
}

// The labs run what `npm run build` leaves: a build of yesterday would judge yesterday's code.
const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
const code = await main()
// Suites of a run that was cut off end a moment after it.
if (told) await setTimeout(2_000)
if (existsSync('dist/lab/prepare.js'))
  spawnSync(process.execPath, ['dist/lab/prepare.js', 'sweep'], { stdio: 'inherit' })
process.exit(told ? 128 + constants.signals[told] : code)
