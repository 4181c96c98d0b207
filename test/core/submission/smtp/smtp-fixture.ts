/** Fixture of SMTP submission with one credential, with helpers for tests. */
import type { SmtpLogin, SmtpMessage } from '#core/submission/doors/smtp-door.ts'
import { coreFixture, type CoreFixture, type CoreFixtureOptions } from '../../core-fixture.ts'

export const content = 'From: shop@example.com\r\nTo: anna@example.net\r\nSubject: hi\r\nMessage-ID: <a@b>\r\nDate: now\r\n\r\nhello\r\n'

export async function doorOf(t: Parameters<typeof coreFixture>[0], options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, { deaf: true, ...options })
  await fixture.destination()
  await fixture.credential('right')
  return fixture
}

export const login = (fixture: CoreFixture, password = 'right', username = 'cms-user', from = '192.0.2.1') =>
  fixture.door.login(username, password, from)

export async function submit(live: SmtpLogin, text: string | Buffer = content, changes: Partial<SmtpMessage> = {}) {
  const draft = live.openDraft()
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let at = 0; at < bytes.length; at += 65_536) await draft.write(bytes.subarray(at, at + 65_536))
  const envelope = {
    mailFrom: 'shop@example.com',
    rcptTo: ['anna@example.net'],
    eightBit: false,
    helo: 'cms.example',
    remoteAddress: '192.0.2.1',
    protocol: 'ESMTPSA',
  } as const
  return live.submit({ ...envelope, draft, head: bytes.subarray(0, 262_144), ...changes })
}
