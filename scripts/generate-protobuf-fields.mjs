// Makes packages/simulator/src/api-server/http/protobuf-fields.json from the Go types of a Kubernetes release: for every message that a
// request body of a served kind reaches, what each field number means. Go clients since 1.32 write built-in kinds in
// protobuf and nothing else, and the numbers are to be had nowhere but there.
//
//   go mod download -json k8s.io/api@v0.36.4 k8s.io/apimachinery@v0.36.4      (each prints "Dir")
//   node scripts/generate-protobuf-fields.mjs <Dir of api> <Dir of apimachinery>
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [apiDirectory, machineryDirectory] = process.argv.slice(2)
if (!apiDirectory || !machineryDirectory) {
  console.error('usage: node scripts/generate-protobuf-fields.mjs <k8s.io/api> <k8s.io/apimachinery>')
  process.exit(2)
}

const schemas = JSON.parse(
  readFileSync(new URL('../packages/simulator/src/api-server/builtin/schemas.json', import.meta.url), 'utf8'),
)
// Custom resource definitions are written as JSON by their clients, and their schema types have no plain protobuf form.
const kinds = Object.keys(schemas.kinds).filter((key) => !key.startsWith('apiextensions.k8s.io/'))

const specials = {
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'time',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'micro',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'raw',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'raw',
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'quantity',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'intstr',
}
const scalars = { string: 's', bool: 't', int32: 'i', int64: 'i', uint32: 'i', float64: 'd', '[]byte': 'b' }

const packages = new Map()

function packageAt(path) {
  if (packages.has(path)) return packages.get(path)
  const root = path.startsWith('k8s.io/api/') ? apiDirectory : machineryDirectory
  const directory = join(root, path.split('/').slice(2).join('/'))
  const types = new Map()
  packages.set(path, types)
  for (const file of readdirSync(directory)) {
    if (!file.endsWith('.go') || /generated|_test|\.pb\./.test(file)) continue
    const source = readFileSync(join(directory, file), 'utf8').replace(/^\s*\/\/.*$/gm, '')
    const imports = Object.fromEntries(
      [...source.matchAll(/^\s*(?:import\s+)?(\w+)?\s*"(k8s\.io\/[^"]+)"$/gm)].map(([, alias, to]) => [
        alias ?? to.split('/').at(-1),
        to,
      ]),
    )
    for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      types.set(name, { imports, fields: fieldsOf(body) })
    }
    for (const [, name, underlying] of source.matchAll(/^type (\w+) ([\w[\].*]+)$/gm))
      types.set(name, { imports, underlying })
  }
  return types
}

function fieldsOf(body) {
  return [...body.matchAll(/^\s*(?:(\w+)\s+)?([\w.*[\]]+)\s+`([^`]*protobuf:"\w+,[^`]*)`/gm)].map(([, , type, tag]) => {
    const [json = '', ...options] = /json:"([^"]*)"/.exec(tag)?.[1].split(',') ?? []
    const number = Number(/protobuf:"[^,]*,(\d+),/.exec(tag)[1])
    return { number, json, inline: options.includes('inline'), omitempty: options.includes('omitempty'), type }
  })
}

const messages = {}

function nameOf(path, type) {
  return `${path.replace(/^k8s\.io\/(api\/|apimachinery\/pkg\/apis\/)/, '').replaceAll('/', '.')}.${type}`
}

function visit(path, type) {
  const name = nameOf(path, type)
  if (messages[name]) return name
  const found = packageAt(path).get(type)
  if (!found?.fields) throw new Error(`${path}.${type} is not a struct`)
  messages[name] = {}
  for (const field of found.fields) {
    const isPointer = field.type.startsWith('*')
    const described = describe(path, found.imports, field.type.replace(/^\*/, ''))
    messages[name][field.number] =
      `${field.inline ? '.' : field.json} ${described}${isPointer || !field.omitempty ? '?' : ''}`
  }
  return name
}

function describe(path, imports, type) {
  if (scalars[type]) return scalars[type]
  if (type.startsWith('[]')) return `[]${describe(path, imports, type.slice(2))}`
  const map = /^map\[[\w.]+\](.+)$/.exec(type)
  if (map) return `{}${describe(path, imports, map[1])}`
  const [alias, local] = type.includes('.') ? type.split('.') : [undefined, type]
  const owner = alias === undefined ? path : imports[alias]
  if (owner === undefined) throw new Error(`${type} in ${path} comes from nowhere`)
  if (specials[`${owner}.${local}`]) return specials[`${owner}.${local}`]
  if (owner === 'k8s.io/apimachinery/pkg/types') return 's'
  const found = packageAt(owner).get(local)
  if (found === undefined) throw new Error(`${owner}.${local} is not known`)
  if (found.fields) return `m:${visit(owner, local)}`
  // A named list of texts is a message of its own with the list in field 1.
  if (found.underlying === '[]string') return 'texts'
  return describe(owner, found.imports, found.underlying)
}

const byKind = {}
for (const key of kinds) {
  const [group, version, kind] = key.startsWith('v1/') ? ['core', ...key.split('/')] : key.split('/')
  byKind[key] = visit(`k8s.io/api/${group.split('.')[0]}/${version}`, kind)
}
byKind.DeleteOptions = visit('k8s.io/apimachinery/pkg/apis/meta/v1', 'DeleteOptions')

const sorted = Object.fromEntries(Object.entries(messages).sort(([a], [b]) => (a < b ? -1 : 1)))
const target = new URL('../packages/simulator/src/api-server/http/protobuf-fields.json', import.meta.url)
writeFileSync(target, `${JSON.stringify({ kinds: byKind, messages: sorted }, null, 2)}\n`)
console.log(`${Object.keys(sorted).length} messages`)
