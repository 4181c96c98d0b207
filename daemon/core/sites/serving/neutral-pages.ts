/** Short pages in place of a site that is not served. They reveal nothing about its owner. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { atFirstUse } from '#config/texts/formats.ts'
import type { SiteAnswer } from './site-answer.ts'

const retryAfterSeconds = 600
type SiteState = 'paused' | 400 | 404 | 405 | 410 | 451

const pages = atFirstUse(
  () =>
    new Map(
      Object.entries(catalogIn('site-states', 'en')).map(([state, { title, text }]) => {
        const html =
          `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">` +
          `<meta name="robots" content="noindex"><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>\n`
        return [state, Buffer.from(html)] as const
      }),
    ),
)

export function statePage(state: SiteState, method: string): SiteAnswer {
  const body = pages().get(String(state)) ?? Buffer.alloc(0)
  const status = state === 'paused' ? 503 : Number(state)
  const headers: Record<string, string | number> = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  }
  if (status === 503) headers['retry-after'] = retryAfterSeconds
  if (status === 405) headers['allow'] = 'GET, HEAD'
  return { status, headers, body: method === 'HEAD' ? undefined : body }
}
