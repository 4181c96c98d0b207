/** Limits on disk space for messages that are not accepted yet. */
import test from '#test'
import { SpillRoom } from '../../../daemon/observability/admission/spill-room.ts'
import { portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const mebi = 1_048_576
const lowDiskBytes = 256 * mebi

test('SpillRoom: leaves others as much as an owner holds, and keeps the reserve free', (t) => {
  let free = lowDiskBytes + 100
  let collections = 0
  const room = new SpillRoom({ free: () => free, lowDiskBytes, onRemoved: () => collections++ })
  const take = (owner: string, bytes: number): void => {
    room.take(owner, bytes)
    free -= bytes
  }
  const fill = (owner: string): number => {
    for (let held = 0; ; held++)
      try {
        take(owner, 1)
      } catch (error) {
        t.like(error, { code: 'storage_full', retryAfterSeconds: 60 })
        return held
      }
  }
  t.is(fill('a'), 50)
  t.is(fill('b'), 25)
  t.is(fill('c'), 12)
  room.release('a', 50)
  t.is(fill('a'), 6, 'deleted data use space until they are collected')
  t.is(collections, 0)
  room.removed(50)
  t.is(fill('d'), 3)
  t.is(collections, 1, 'a refusal asks for it')
  room.removed(128 * mebi)
  t.is(collections, 2)
})

const content = (bytes: number): Buffer => Buffer.from(`Subject: x\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(bytes / 1000)}`)

test('endless message: uses at most half of the disk space; others can send', async (t) => {
  const daemon = await startDaemon(t, {
    env: {
      POSTERN_INBOUND_DOMAIN: 'in.test',
      POSTERN_STORE_LOW_DISK_BYTES: String(lowDiskBytes),
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32',
    },
    replacements: { free: () => lowDiskBytes + 2.5 * mebi },
  })
  const { rest, addresses } = daemon
  await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'hello', webhook_url: 'https://hooks.example.ch/' })
  const login = await makeLogin(rest, await makeDestination(rest, { name: 'sandbox', port: 25, mode: 'sandbox' }))
  const attack = await SmtpClient.connect({ port: portOf(addresses.mx) })
  const letter = { from: 'a@peer.test', to: ['hello@in.test'] }
  const { accepted, reply } = await attack.send({ ...letter, content: content(3_000_000) })
  t.deepEqual([accepted, reply.code, reply.lines[0]?.slice(0, 5)], [false, 452, '4.3.1'])
  for (let i = 0; i < 3; i++) t.true((await attack.send({ ...letter, content: content(1_000_000) })).accepted)
  await attack.abandon({ ...letter, content: content(1_900_000) }, 0.99)
  const tenant = await SmtpClient.signIn({ port: portOf(addresses.submission) }, login)
  t.true((await tenant.send({ from: 'shop@site.test', to: ['ada@example.ch'], content: content(1_900_000) })).accepted)
  await tenant.quit()
  t.deepEqual(daemon.errors, [])
})
