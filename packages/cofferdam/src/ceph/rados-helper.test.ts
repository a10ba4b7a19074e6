import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { scratchFolder } from '@cofferdam/kubernetes/client/testing/scratch-folder.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CephAccess } from './ceph-access.ts'
import { createRadosCommands } from './rados-commands.ts'

const python = '/usr/bin/python3'

/** As much of the module rados as the program uses. */
const fakeModule = `
import json

class Error(Exception):
    pass

class Rados:
    DEFAULT_CONF_FILES = -2

    def __init__(self, conffile, name, conf):
        self.given = {"conffile": conffile, "name": name, "conf": conf}

    def connect(self):
        if self.given["conffile"] == "/wrong":
            raise Error("error connecting to the cluster")

    def mon_command(self, command, inbuf):
        command = json.loads(command)
        if command["prefix"] == "given":
            return 0, json.dumps(self.given).encode(), ""
        if command["prefix"] == "busy":
            return -16, b'{"ok_to_stop":false}', "unsafe"
        if command["prefix"] == "large":
            return 0, b"x" * 2000, None
        raise Error("no such command")

    def monitor_log2(self, level, callback, arg):
        for channel, line in ((b"audit", b"from='client.1' cmd=status"), (b"cluster", "osd.1 failed \u00fc".encode())):
            callback(arg, line, channel, b"mon.a", b"mon.0", 1, 2, 3, b"[INF]", line)
`

async function fixture(access: CephAccess = {}, module = fakeModule) {
  const folder = await scratchFolder({ 'rados.py': module })
  const commands = createRadosCommands({
    clock: realClock,
    random: seededRandom(1),
    environment: { PATH: process.env['PATH'], PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    access,
    limits: { maxBytes: 1000 },
    interpreter: python,
  })
  onTestFinished(() => commands.close())
  return commands
}

function hasPython(): boolean {
  if (!existsSync(python)) return false
  return execFileSync(python, ['-c', 'import sys; print(sys.version_info[0])'], { encoding: 'utf8' }).trim() === '3'
}

describe.skipIf(!hasPython())(`the program for python3-rados (needs ${python})`, () => {
  it('connects with what it is given, and finds the configuration by itself when it is given none', async () => {
    const conf = { client_mount_timeout: '14', rados_mon_op_timeout: '14' }
    const plain = await fixture()
    expect(JSON.parse((await plain.run({ prefix: 'given' })).out)).toEqual({ conffile: -2, name: 'client.admin', conf })
    const told = await fixture({ conf: '/c', name: 'client.x', keyring: '/k=1' })
    expect(JSON.parse((await told.run({ prefix: 'given' })).out)).toEqual({
      conffile: '/c',
      name: 'client.x',
      conf: { ...conf, keyring: '/k=1' },
    })
  })

  it('answers as Ceph does, refuses what is too large, and survives a command that fails in the module', async () => {
    const commands = await fixture()
    expect(await commands.run({ prefix: 'busy' })).toEqual({ code: 16, out: '{"ok_to_stop":false}', err: 'unsafe' })
    await expect(commands.run({ prefix: 'large' })).rejects.toThrow('the answer is too large (2000 bytes)')
    await expect(commands.run({ prefix: 'other' })).rejects.toThrow('the client failed: "Error: no such command"')
    expect(await commands.run({ prefix: 'busy' })).toMatchObject({ code: 16 })
  })

  it('tells the cluster log line by line, and nothing of what clients did', async () => {
    const commands = await fixture()
    const lines: string[] = []
    const leaving = new AbortController()
    await commands.followLog({
      onOpen: () => leaving.abort(),
      onLine: (line) => lines.push(line),
      signal: leaving.signal,
    })
    expect(lines).toEqual(['osd.1 failed ü'])
  })

  it('says that there is no connection, and that there is no module', async () => {
    await expect((await fixture({ conf: '/wrong' })).run({ prefix: 'busy' })).rejects.toThrow(
      'no connection: "Error: error connecting to the cluster"',
    )
    const without = await fixture({}, 'raise ImportError("no librados")')
    await expect(without.run({ prefix: 'busy' })).rejects.toThrow('has no module rados')
  })
})
