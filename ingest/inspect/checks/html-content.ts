/** Check 16: what stands in the HTML, seen and unseen. */
import type { Facts } from '../facts/mail-facts.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'

const maxHidden = 200
const wordsMin = 25

export function checkHtmlContent({ page }: Facts): Verdict {
  if (!page) return { status: 'na', summary: 'The mail has no HTML.' }
  const pixels = page.images.filter(({ isPixel }) => isPixel).length
  const shown = page.images.filter(({ isPixel }) => !isPixel)
  const evidence = [
    { label: 'Images', value: String(shown.length) },
    { label: 'Tracking pixels', value: `${pixels}; they do not count` },
  ]
  if (page.active.length > 0) {
    const text = `The HTML holds ${page.active.join(', ')}, which no mail program runs and filters take for an attack.`
    return { ...failedFor([{ text, fix: 'Remove it, and link to a page that has it.' }]), evidence }
  }
  const findings: Finding[] = []
  const nameless = shown.filter(({ hasAlt }) => !hasAlt).length
  if (nameless > 0)
    findings.push({
      text: `${nameless} of ${shown.length} images have no alternative text.`,
      fix: 'Give every image an alt attribute, an empty one where it only decorates.',
    })
  const words = page.text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  if (shown.length > 0 && words < wordsMin)
    findings.push({ text: `There are only ${words} words beside the images.`, fix: 'Say it in text as well; many readers see no images.' })
  if (page.hidden > maxHidden)
    findings.push({
      text: `${page.hidden} characters are hidden.`,
      fix: 'Remove hidden text; only a short preview text at the beginning may be hidden.',
    })
  if (page.tiny > 0) findings.push({ text: `${page.tiny} characters are too small to be read.`, fix: 'Remove text smaller than 2 pixels.' })
  if (page.camouflaged > 0)
    findings.push({
      text: `${page.camouflaged} characters have the colour of their background.`,
      fix: 'Remove the text, or give it a colour that can be seen.',
    })
  return { ...lessForEach('html_content', findings, 1, 1, 'The HTML is in order.'), evidence }
}
