/** Files of forms arrive under all part names of clients, and the trace reports unused parts. */
import test from '#test'
import { simpleParser } from 'mailparser'
import { startDaemon } from '../../../support/daemon/start-daemon.ts'

interface Told {
  readonly timeline: readonly { readonly event: string; readonly message: string }[]
}

test('Mailgun: files in list entries arrive; all other files are reported as ignored', async (t) => {
  const { rest } = await startDaemon(t)
  const sent = async (files: readonly (readonly [part: string, name: string])[], path = '/v3/example.ch/messages') => {
    const form = new FormData()
    for (const [name, value] of Object.entries({ from: 'shop@example.ch', to: 'ada@example.net', subject: 's', text: 't' }))
      form.append(name, value)
    for (const [part, name] of files) form.append(part, new Blob(['x']), name)
    const encoded = new Response(form)
    const type = encoded.headers.get('content-type') ?? ''
    const { id } = await rest.must('POST', path, Buffer.from(await encoded.arrayBuffer()), { 'content-type': type })
    const trace = `/v1/traces/${String(id).replace(/^<|@.*$/g, '')}`
    const { attachments } = await simpleParser((await rest.call('GET', `${trace}/message/raw`)).bytes)
    const { timeline } = (await rest.must('GET', trace)) as unknown as Told
    const names = attachments.map(({ filename, contentDisposition }) => `${filename ?? ''} ${contentDisposition}`)
    return [names, timeline.find(({ event }) => event === 'dialect')?.message] as const
  }
  const good = 'Sent over the API of Mailgun; every field of the request has its effect.'
  const without = (names: string): string => `Sent over the API of Mailgun; these fields have no effect here: ${names}.`
  const parts = ['attachment', 'attachment[0]', 'attachment[1]', 'attachment[]', 'inline', 'inline[0]', 'inline[]'] as const
  const [names, told] = await sent(parts.map((part, i) => [part, `${String(i)}.bin`]))
  const expected = parts.map((part, i) => `${String(i)}.bin ${part.startsWith('inline') ? 'inline' : 'attachment'}`)
  t.deepEqual(names.toSorted(), expected.toSorted())
  t.is(told, good)
  const odd = ['Attachment', 'attachment[x]', 'attachment[0][0]', 'attachments', 'file'] as const
  t.deepEqual(await sent(odd.map((part) => [part, 'a.bin'])), [[], without(odd.join(', '))])
  t.deepEqual(await sent([], '/v3/example.ch/messages?o:tag=a'), [[], without('?o:tag')])
})
