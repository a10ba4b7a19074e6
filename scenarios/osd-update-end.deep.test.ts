import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { afterEach, expect, it } from 'vitest'
import { namespace, openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'
import { isOsd } from './testing/osd-update-oracle.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const next = 'v19.2.4'
const patient = 240_000

/** Ceph with another word in one of its answers. */
const saying =
  (prefix: string, from: string, to: string) =>
  (commands: CephCommands): CephCommands => ({
    async run(command, limits) {
      const answer = await commands.run(command, limits)
      return command.prefix === prefix ? { ...answer, out: answer.out.replaceAll(from, to) } : answer
    },
  })

async function update(distortion: Parameters<UpdateFixture['distort']>[0]): Promise<void> {
  fixture = await openUpdateFixture({ storage: 3, annotations: { 'cofferdam.io/update-max-in-parallel': '4' } })
  fixture.operate()
  await fixture.seconds(60)
  fixture.distort(distortion)
  await fixture.want(next)
  await fixture.until('all are updated', () => fixture.isUpdated(next), 900)
  await fixture.seconds(120)
}

it(
  'a release that Ceph does not require yet is named at the end of an update, with what to run, and forgotten when it is',
  async () => {
    await update(saying('osd dump', '"require_osd_release":"pacific"', '"require_osd_release":"octopus"'))
    expect(await fixture.told()).toContain('Warning OsdReleaseLags')
    const wanted = 'run ceph osd require-osd-release pacific'
    expect(fixture.record()?.data?.['record']).toContain(wanted)
    fixture.distort(undefined)
    await fixture.seconds(400)
    expect(fixture.record()?.data?.['record']).not.toContain(wanted)
    expect(fixture.oracle.violations).toEqual([])
  },
  patient,
)

it(
  'the labels of the OSD Deployments say what the OSDs run after an update, and no pod is replaced for it',
  async () => {
    await update(saying('osd metadata', '16.2.15', '16.2.16'))
    const osds = [...fixture.views.of(deployments).values()].filter((one) => isOsd(one, namespace))
    expect(new Set(osds.map(({ metadata }) => metadata.labels?.['ceph-version']))).toEqual(new Set(['16.2.16-0']))
    expect([fixture.oracle.violations, fixture.oracle.started.length]).toEqual([[], osds.length])
  },
  patient,
)
