/** Pages for people who were written to: no script, nothing from elsewhere, nothing that a search engine or cache keeps. */
import { raw, type Answer } from '../answer.ts'

/** For answers to links in mail, which nobody should find, keep, or learn the origin of. */
export const unlisted = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' }

const policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;background:#f4f5f7;color:#1c2430}' +
  'main{box-sizing:border-box;max-width:28rem;width:calc(100% - 2rem);padding:2rem;background:#fff;border-radius:.75rem;box-shadow:0 1px 4px #0002;overflow-wrap:anywhere}' +
  'h1{font-size:1.4rem;margin:0 0 .75rem}p{margin:0 0 1.25rem}' +
  'button{font:inherit;font-weight:600;padding:.6rem 1.2rem;border:0;border-radius:.5rem;background:#1f5fd6;color:#fff;cursor:pointer}' +
  'button:focus-visible{outline:3px solid #9bbcff}'

/** `title` is text, `content` is HTML. */
export const plainPage = (title: string, content: string, status = 200): Answer =>
  raw(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style><main>${content}</main></html>`,
    { status, contentType: 'text/html; charset=utf-8', headers: { ...unlisted, 'content-security-policy': policy } },
  )

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as it stands in HTML, also between quotes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => entities[c] ?? c)
