/** HTML for agents: every hidden word is removed or marked, and no visible word is marked. */
import test from '#test'
import { textOfHtml } from '#ingest/html/html-text.ts'
import { mailDocument } from '#ingest/html/mail-document.ts'
import { marks, visibleHtml, type VisibleHtml } from '#ingest/html/visible/visible-html.ts'
import { hiding, kite, mole, showing } from './ways-of-hiding.ts'

const seen = (html: string): VisibleHtml & { readonly text: string } => {
  const found = visibleHtml(mailDocument(html))
  return { ...found, text: textOfHtml(found.html) }
}

const unmarked = (text: string): string => text.replaceAll(new RegExp(`${marks.open}[^${marks.close}]*${marks.close}`, 'g'), '')

for (const html of hiding)
  test(`hidden from agents, or marked: ${html}`, (t) => {
    const { text, marked, hidden } = seen(`<h4 style="color:#000">Morning</h4>${html}<h4 style="color:#000">Night</h4>`)
    t.false(unmarked(text).includes(mole), text)
    t.regex(unmarked(text), /Morning[^]*Night/)
    t.is(marked > 0, text.includes(mole), `${hidden} hidden, ${marked} marked`)
  })

for (const html of showing)
  test(`shown to agents without a mark: ${html}`, (t) => {
    const { text, marked } = seen(`<p>Morning</p>${html}<p>Night</p>`)
    t.regex(text.replaceAll(/ ?<https:[^>]*> ?/g, ''), new RegExp(`^Morning\\s+(?:a\\s+)?${kite}b?\\s+Night$`))
    t.is(marked, 0)
  })

test('visibleHtml() marks all text after the comparison limit is reached', (t) => {
  const sheet = `${'*{opacity:1}'.repeat(4000)}.late{display:none}`
  const { text, marked } = seen(`<style>${sheet}</style><p>Morning</p>${'<b>x</b>'.repeat(1000)}<p class="late">${mole}</p>`)
  t.regex(unmarked(text), /^Morning/)
  t.false(unmarked(text).includes(mole))
  t.is(marked, 1)
})
