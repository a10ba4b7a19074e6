// Completes package-lock.json with the platform packages that a registry mirror did not offer when it was written.
// `npm ci` refuses a lockfile that leaves an optional package out, even one for another platform. Run it after `npm install`.
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const systems = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32', 'aix']
const processors = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32']

let added = 0
for (const [, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`
    if (lock.packages[path]) continue
    const words = name.split(/[/-]/)
    const os = systems.find((system) => words.includes(system))
    const cpu = processors.find((processor) => words.includes(processor))
    if (!os || !cpu) {
      console.error(`${name}: its platform cannot be told from its name; left out`)
      continue
    }
    const libc = /musl/.test(name) ? 'musl' : /gnu/.test(name) && os === 'linux' ? 'glibc' : undefined
    lock.packages[path] = {
      version: version.replace(/^[^0-9]*/, ''),
      cpu: [cpu],
      ...(parent.dev ? { dev: true } : {}),
      ...(libc ? { libc: [libc] } : {}),
      optional: true,
      os: [os],
    }
    added += 1
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} platform packages added`)
