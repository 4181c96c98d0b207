import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { PostmasterBox } from '../../../protocols/mx/postmaster-box.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waiting } from '../../support/waits.ts'
import { startFixture } from './mx-fixture.ts'

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder('box')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return folder.path
}

const limits = { mails: 2, octets: 1000 }

test('PostmasterBox: first mail creates a private Maildir, with the size in the name', async (t) => {
  const folder = join(await folderOf(t), 'postmaster')
  const box = new PostmasterBox(folder, new FakeClock())
  const mail = box.openMail('ada@peer.test', 'A: b\r\n')
  await t.throwsAsync(() => stat(folder), { code: 'ENOENT' })
  await mail.write(Buffer.from('C: d\r\n'))
  await mail.write(Buffer.from('\r\nE\r\n'))
  t.deepEqual(await readdir(join(folder, 'new')), [])
  await mail.deliver()
  const [name = '', ...others] = await readdir(join(folder, 'new'))
  t.regex(name, /^\d+\.[0-9a-f]{32}\.postern,S=17$/)
  t.deepEqual(others, [])
  const { mode, size } = await stat(join(folder, 'new', name))
  t.deepEqual([mode & 0o777, size], [0o600, 17])
  t.is((await stat(folder)).mode & 0o777, 0o700)
  await mail.discard()
  t.is((await readdir(join(folder, 'new'))).length, 1)
})

test('PostmasterBox: limits number and size, including read mail; deletions help', async (t) => {
  const folder = await folderOf(t)
  const box = new PostmasterBox(folder, new FakeClock(), limits)
  const put = async (octets: number): Promise<void> => {
    const mail = box.openMail('', '')
    await mail.write(Buffer.alloc(octets, 'x'))
    await mail.deliver()
  }
  const full = { message: /^4\.2\.2 The mailbox of the postmaster is full/ }
  await mkdir(join(folder, 'cur'), { recursive: true })
  await writeFile(join(folder, 'cur', '1.a.host,S=999:2,S'), 'x'.repeat(999))
  await put(1)
  await t.throwsAsync(() => put(1), full)
  const other = new PostmasterBox(await folderOf(t), new FakeClock(), { mails: 10, octets: 1000 })
  const large = other.openMail('', '')
  await large.write(Buffer.alloc(1500))
  await large.deliver()
  await t.throwsAsync(async () => other.openMail('', '').write(Buffer.alloc(1)), full)
})

test('PostmasterBox: stores a repeated mail once, also if read, unlike a different one', async (t) => {
  const folder = await folderOf(t)
  const clock = new FakeClock()
  const put = async (sender: string, received: string, content: string): Promise<void> => {
    clock.advance(1000)
    const mail = new PostmasterBox(folder, clock).openMail(sender, received)
    for (const chunk of content.match(/.{1,3}/g) ?? []) await mail.write(Buffer.from(chunk))
    await mail.deliver()
  }
  const kept = async (): Promise<number> =>
    (await Promise.all(['new', 'cur', 'tmp'].map((part) => readdir(join(folder, part))))).flat().length
  await put('ada@peer.test', 'at noon', 'content')
  await put('ada@peer.test', 'at one', 'content')
  t.is(await kept(), 1)
  const [name = ''] = await readdir(join(folder, 'new'))
  await rename(join(folder, 'new', name), join(folder, 'cur', `${name}:2,S`))
  await put('ada@peer.test', 'at two', 'content')
  t.is(await kept(), 1)
  await put('ada@peer.test', 'at two', 'contents')
  await put('eve@peer.test', 'at two', 'content')
  t.is(await kept(), 3)
})

test('PostmasterBox: removes unfinished files after 36 hours', async (t) => {
  const folder = await folderOf(t)
  const clock = new FakeClock()
  const hour = 3_600_000
  await mkdir(join(folder, 'tmp'))
  for (const hours of [37, 35]) await writeFile(join(folder, 'tmp', `${clock.now() - hours * hour}.a.postern`), 'half')
  const mail = new PostmasterBox(folder, clock).openMail('', '')
  await mail.write(Buffer.from('whole'))
  await mail.deliver()
  t.deepEqual(await readdir(join(folder, 'tmp')), [`${clock.now() - 35 * hour}.a.postern`])
})

/** Resolves after the first call of a method of the mailbox. */
function firstEnd(box: PostmasterBox, name: 'begin' | 'forget'): Promise<void> {
  const method: (...given: never[]) => Promise<unknown> = box[name].bind(box)
  const { promise, resolve } = Promise.withResolvers<void>()
  box[name] = async (...given: never[]) => {
    const result = await method(...given)
    resolve()
    return result as never
  }
  return waiting(`the end of ${name}()`, promise)
}

test('postmaster: aborted DATA leaves no trace', async (t) => {
  const fixture = await startFixture(t)
  const [begun, forgotten] = [firstEnd(fixture.postmaster, 'begin'), firstEnd(fixture.postmaster, 'forget')]
  const client = await fixture.connect()
  await client.reply()
  for (const line of ['EHLO relay.test', 'MAIL FROM:<ada@example.net>', 'RCPT TO:<postmaster>', 'DATA']) await client.command(line)
  await client.sendApart(Buffer.from(`Subject: half\r\n\r\n${'x'.repeat(70)}\r\n`.repeat(1000)))
  await begun
  t.is((await fixture.unfinished()).length, 1)
  client.destroy()
  await forgotten
  t.deepEqual([await fixture.unfinished(), await fixture.kept()], [[], []])
})
