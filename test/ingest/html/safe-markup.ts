/** An independent check of sanitized HTML with a separate grammar that permits only harmless markup. */

const attributes = new Set([
  ...[
    'align',
    'alt',
    'bgcolor',
    'border',
    'cellpadding',
    'cellspacing',
    'color',
    'colspan',
    'coords',
    'data-address',
    'data-remote-src',
    'datetime',
    'dir',
  ],
  ...[
    'face',
    'height',
    'hidden',
    'href',
    'hspace',
    'lang',
    'name',
    'nowrap',
    'rel',
    'reversed',
    'role',
    'rowspan',
    'scope',
    'shape',
    'size',
    'span',
    'src',
  ],
  ...['start', 'style', 'target', 'title', 'type', 'usemap', 'valign', 'value', 'vspace', 'width'],
])
const dangerousTags = new Set([
  ...['applet', 'audio', 'base', 'body', 'button', 'embed', 'form', 'frame', 'frameset', 'head', 'html', 'iframe', 'input', 'link'],
  ...['math', 'meta', 'noembed', 'noframes', 'noscript', 'object', 'option', 'picture', 'plaintext', 'script', 'select', 'source'],
  ...['style', 'svg', 'template', 'textarea', 'title', 'video', 'xmp'],
])
const piece = /([^<>]+)|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)( \/)?>/gy
const declaration = /^(?:[a-z-]+:(?:[#%.,'"_ \p{L}\p{N}-]|(?:rgb|hsl)a?\([0-9., %/]+\))+(?: !important)?(?:;|$))+$/u

/** Returns one line for each dangerous construct; empty if the markup is safe. */
export function dangers(html: string): string[] {
  const found: string[] = []
  let at = 0
  piece.lastIndex = 0
  for (let match = piece.exec(html); match; match = piece.exec(html)) {
    at = piece.lastIndex
    const [, , , name = '', list = ''] = match
    if (dangerousTags.has(name)) found.push(`tag ${name}`)
    for (const [, key = '', value = ''] of list.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
      const danger = attributeDanger(name, key, unescaped(value))
      if (danger) found.push(danger)
    }
  }
  if (at !== html.length) found.push(`not plain markup at ${at}: ${html.slice(at, at + 60)}`)
  return found
}

function attributeDanger(tag: string, key: string, value: string): string | undefined {
  const fine: Readonly<Record<string, () => boolean>> = {
    href: () => (tag === 'a' || tag === 'area') && /^(?:https?:\/\/|mailto:|tel:|sms:)/.test(value),
    'data-address': () => (tag === 'div' || tag === 'span') && /^(?:https?:\/\/|mailto:|tel:|sms:)/.test(value),
    name: () => tag === 'map' && value.startsWith('mail-'),
    usemap: () => tag === 'img' && value.startsWith('#mail-'),
    src: () => tag === 'img' && /^(?:cid:|data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*$)/i.test(value),
    'data-remote-src': () => tag === 'img' && /^https?:\/\//.test(value),
    style: () => declaration.test(value) && !/position|z-index|expression|behaviou?r|-moz-binding/i.test(value),
    target: () => value === '_blank',
    rel: () => value === 'noopener noreferrer nofollow',
  }
  if (!attributes.has(key)) return `attribute ${key} on ${tag}`
  return fine[key]?.() === false ? `${key}=${value} on ${tag}` : undefined
}

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
