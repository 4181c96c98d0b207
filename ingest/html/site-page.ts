/**
 * Collects facts about a website page for the deploy report: links, images without alternative text, forms. Works in steps, with limits.
 */
import type { PageFacts } from '#core/sites/site.ts'

const maxLinks = 500
const maxImages = 20
const maxForms = 50
const maxAddress = 500
const maxDepth = 1000
const pieceLength = 16_384

type Attributes = Readonly<Record<string, string>>

/** Reads a page. Stops where elements are nested too deeply. */
export async function readSitePage(html: string): Promise<PageFacts> {
  const { Parser } = await import('htmlparser2')
  const reading = new Reading()
  const parser = new Parser(
    { onopentag: (name, attributes) => reading.open(name, attributes), onclosetag: () => reading.close() },
    { decodeEntities: true },
  )
  for (let at = 0; at < html.length && !reading.isTooDeep; at += pieceLength) {
    parser.write(html.slice(at, at + pieceLength))
    await new Promise(setImmediate)
  }
  return reading.facts()
}

class Reading {
  readonly #links = new Set<string>()
  readonly #images: string[] = []
  readonly #forms = new Set<string>()
  #hasEmbed = false
  #missingAlt = 0
  #hasFormScript = false
  #depth = 0

  get isTooDeep(): boolean {
    return this.#depth > maxDepth
  }

  open(name: string, attributes: Attributes): void {
    this.#depth++
    const { 'data-svc-form': form, src, href, alt } = attributes
    if (form !== undefined && /^[A-Za-z0-9]{1,64}$/.test(form)) {
      this.#hasEmbed = true
      if (this.#forms.size < maxForms) this.#forms.add(form)
    }
    if (name === 'form') this.#addHosted(attributes['action'])
    if (name === 'script' && src !== undefined && /\/embed\.js(?:[?#]|$)/.test(src)) this.#hasFormScript = true
    if (name === 'img' && alt === undefined && attributes['role'] !== 'presentation' && attributes['aria-hidden'] !== 'true') {
      this.#missingAlt++
      if (this.#images.length < maxImages) this.#images.push((src ?? '').slice(0, maxAddress))
    }
    if ((name === 'a' || name === 'link' || name === 'area') && isOwnLink(name, attributes)) this.#addLink(href)
    if (name === 'img' || name === 'script' || name === 'source' || name === 'iframe') this.#addLink(src)
  }

  close(): void {
    this.#depth--
  }

  facts(): PageFacts {
    return {
      ...{ links: [...this.#links], imagesWithoutAlt: this.#images, missingAlt: this.#missingAlt },
      ...{ forms: [...this.#forms], needsFormScript: this.#hasEmbed && !this.#hasFormScript },
    }
  }

  /** Adds a form element of the page that submits to a form of this service. */
  #addHosted(action: string | undefined): void {
    const [, id] = /^https?:\/\/[^/]+\/f\/([A-Za-z0-9]{1,64})(?:[/?#]|$)/.exec(action ?? '') ?? []
    if (id !== undefined && this.#forms.size < maxForms) this.#forms.add(id)
  }

  #addLink(address: string | undefined): void {
    if (address !== undefined && address !== '' && address.length <= maxAddress && this.#links.size < maxLinks) this.#links.add(address)
  }
}

/** Other `link` elements name hosts or optional resources. */
const isOwnLink = (name: string, { rel = '' }: Attributes): boolean => name !== 'link' || /\b(?:stylesheet|icon|manifest)\b/i.test(rel)
