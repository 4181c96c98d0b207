/** Check 16: the visible and hidden content of the HTML. */
import { countWords, type Facts } from '../facts/mail-facts.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const maxHidden = 200
const wordsMin = 25

export function checkHtmlContent({ page }: Facts): Verdict {
  if (!page) return { status: 'na', summary: say('html_none') }
  const pixels = page.images.filter(({ isPixel }) => isPixel).length
  const shown = page.images.filter(({ isPixel }) => !isPixel)
  const evidence = [
    { label: term('images'), value: String(shown.length) },
    { label: term('pixels'), value: term('pixels_uncounted', { count: pixels }) },
  ]
  if (page.active.length > 0) {
    const text = say('html_active', { elements: page.active.join(', ') })
    return { ...failedFor([{ text, fix: say('fix_html_active') }]), evidence }
  }
  const findings: Finding[] = []
  const nameless = shown.filter(({ hasAlt }) => !hasAlt).length
  if (nameless > 0)
    findings.push({
      text: say('html_no_alt', { count: nameless, all: shown.length }),
      fix: say('fix_html_alt'),
    })
  const words = countWords(page.text)
  if (shown.length > 0 && words === 0) return { ...failedFor([{ text: say('html_no_words'), fix: say('fix_html_words') }]), evidence }
  if (shown.length > 0 && words < wordsMin) findings.push({ text: say('html_few_words', { count: words }), fix: say('fix_html_words') })
  if (page.hidden > maxHidden)
    findings.push({
      text: say('html_hidden', { count: page.hidden }),
      fix: say('fix_html_hidden'),
    })
  if (page.tiny > 0) findings.push({ text: say('html_tiny', { count: page.tiny }), fix: say('fix_html_tiny') })
  if (page.camouflaged > 0)
    findings.push({
      text: say('html_camouflaged', { count: page.camouflaged }),
      fix: say('fix_html_camouflaged'),
    })
  return { ...lessForEach('html_content', findings, 1, 1, say('html_pass')), evidence }
}
