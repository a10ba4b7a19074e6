import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type UnpackedImage, unpackImage } from './image/unpack-image.ts'
import { type Lab, openLab } from './lab.ts'

const start = promisify(execFile)
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

let folder: string
let image: UnpackedImage
let withCeph: UnpackedImage
let printed: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lab-image-'))
  printed = (await start('node', ['scripts/image.mjs', '--out', join(folder, 'one')])).stdout
  image = await unpackImage(join(folder, 'one'), version, join(folder, 'root'))
  withCeph = await unpackImage(join(folder, 'one'), `${version}-ceph`, join(folder, 'root-ceph'))
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const call = async ([program, ...args]: readonly [string, ...string[]]) => (await start(program, args)).stdout.trim()
const script = (text: string) => image.command('/usr/bin/node', '-e', text)

describe('the image', () => {
  it('has the same digest when it is built again: whoever builds it can tell that a published one is ours', async () => {
    await start('node', ['scripts/image.mjs', '--out', join(folder, 'other')])
    const [one, other] = await Promise.all(['one', 'other'].map((name) => readFile(join(folder, name, 'index.json'))))
    expect(other?.toString()).toBe(one?.toString())
  }, 300_000)

  it('is pulled in less than 60 MB', () => {
    const [line = ''] = printed.split('\n')
    expect(Number(/([\d.]+) MB compressed/.exec(line)?.[1])).toBeLessThan(60)
  })

  it('says its version, as its user and on a root that nothing can be written to', async () => {
    expect(await call([...image.command(), '--version'])).toBe(version)
    expect(await call([...image.command(), 'operator', '--help'])).toContain('Usage: cofferdam operator')
    expect(await call(script('console.log(process.getuid(), process.getgid(), process.getgroups().join())'))).toBe(
      '65532 65532 65532',
    )
    const writes = ['/new', '/tmp/new', '/usr/lib/cofferdam/cofferdam.js', '/dev/new']
    const text = `for (const path of ${JSON.stringify(writes)}) try { fs.writeFileSync(path, 'x'); console.log(path) } catch ({ code }) { console.log(code) }`
    expect(await call(script(text))).toBe('EROFS\nEROFS\nEROFS\nEROFS')
  })

  it('has no shell and no program that changes its user: whoever gets in finds nothing to go on with', async () => {
    const programs = async ({ root }: UnpackedImage) =>
      (await call(['find', join(root, 'usr/bin'), join(root, 'usr/sbin'), '-mindepth', '1', '-printf', '%f\n']))
        .split('\n')
        .sort()
    expect(await programs(image)).toEqual(['node'])
    expect(await programs(withCeph)).toEqual(['node', 'python3', 'python3.13'])
    expect(await call(['find', image.root, withCeph.root, '-perm', '/6000'])).toBe('')
  })

  it('finds all that it is linked with: a library that is missing shows when it is too late', async () => {
    const client = withCeph.command('/usr/bin/python3', '-c', 'import rados; print(rados.Rados(conf={}).version())')
    expect(await call(client)).toMatch(/^\d/)
  })

  it('has no demo, and says where there is one', async () => {
    await expect(call([...image.command(), 'demo'])).rejects.toThrow('npx cofferdam demo')
  })
})

describe('the operator of the image, as pods of a real Kubernetes', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await openLab('image', { operatorProgram: withCeph.command() })
    await lab.installOperator()
  })
  afterAll(() => lab?.close())

  it('runs as its user in its own root, with nothing of the checkout', () => {
    const operators = [...lab.operators().values()]
    expect(operators).toHaveLength(2)
    for (const { pid } of operators) {
      expect(readlinkSync(`/proc/${pid}/root`)).toBe(withCeph.root)
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m)
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\t0+$/m)
    }
  })

  it('drains a node with its OSDs: it reaches Ceph by the client that the image brings', async () => {
    const drain = lab.drain('node-a')
    expect((await drain.ended).code).toBe(0)
    await lab.until('noout is set', async () => (await lab.nooutBuckets()).length === 1)
    await lab.kubectl('uncordon', 'node-a')
    await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
    expect(await lab.nooutBuckets()).toEqual([])
    expect(lab.oracle.violations).toEqual([])
  })
})
