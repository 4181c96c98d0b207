/** The work of a view on the main thread is limited for any number of images in the message. */
import test from '#test'
import { mailDocument } from '#ingest/html/mail-document.ts'
import { linkedText } from '../../../../admin-api/pages/messages/linked-text.ts'
import { messageFrame } from '../../../../admin-api/pages/messages/message-frame.ts'
import { growsLinearly } from '../../../support/measure/growth.ts'

const frame = (html: string, contentIds: readonly string[], remote = (address: string): string => `/image?u=${address}`): string => {
  const attachments = contentIds.map((contentId) => ({ filename: 'a.png', contentType: 'image/png', size: 1, contentId }))
  const shown = { document: mailDocument(html), attachments } as unknown as Parameters<typeof messageFrame>[0]
  const { body } = messageFrame(shown, { origin: 'http://localhost', base: '/view/x', showsRemote: true, remote })
  return typeof body === 'string' ? body : ''
}

test('images: found by content id, first of a name, with and without brackets', (t) => {
  const content = frame('<img src="cid:a"><img src="cid:b"><img src="cid:none"><p style="background:url(cid:a)">', ['<b>', '<a>', 'a'])
  t.regex(content, /<img src="\/view\/x\/embedded\/1" \/><img src="\/view\/x\/embedded\/0" \/><img \/>/)
  t.regex(content, /<p style="background:url\(\/view\/x\/embedded\/1\)"/)
})

test('images: found by percent-encoded content ids', (t) => {
  const content = frame('<img src="cid:a%40x"><img src="mid:m@x/b%25c"><p style="background:url(cid:a%40x)">', ['<a@x>', '<b%25c>'])
  t.regex(content, /<img src="\/view\/x\/embedded\/0" \/><img src="\/view\/x\/embedded\/1" \/>/)
  t.regex(content, /<p style="background:url\(\/view\/x\/embedded\/0\)"/)
  t.false(frame('<img src="cid:a%22%00b">', ['<a"b>']).includes('embedded/'))
})

test('images: cost grows linearly with images and files', (t) => {
  t.true(
    growsLinearly((size) => {
      const count = Math.ceil(size / 40)
      return frame(
        '<img src="cid:none">'.repeat(Math.min(count, 40_000)),
        Array.from({ length: count }, (_, i) => `<${i}@shop>`),
      ).length
    }),
  )
})

test('images: at most 1,000 remote addresses per view are signed, each once', (t) => {
  let signed = 0
  const content = frame(Array.from({ length: 30_000 }, (_, i) => `<img src="http://x/${i % 15_000}">`).join(''), [], (address) => {
    signed += 1
    return `/image?u=${address}`
  })
  t.is(signed, 1000)
  t.is(content.match(/ src="/g)?.length, 2000)
})

test('text: shown completely; links only within the search limit', (t) => {
  const line = 'https://shop.example.ch/1\n'
  const shown = String(linkedText(line.repeat(5000)))
  t.is(shown.replaceAll(/<[^>]*>/g, ''), line.repeat(5000))
  t.is(shown.match(/<a /g)?.length, Math.floor((64 * 1024) / line.length) + 1)
})
