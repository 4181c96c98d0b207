/** Content types of files, determined only by the extension. Responses have `nosniff`. */

const text = (type: string) => ({ type: `${type}; charset=utf-8`, isCompressible: true })
const packed = (type: string) => ({ type, isCompressible: false })
const loose = (type: string) => ({ type, isCompressible: true })

export interface FileType {
  /** Value of the header Content-Type. */
  readonly type: string
  readonly isCompressible: boolean
}

const types: Readonly<Record<string, FileType>> = {
  ...{ html: text('text/html'), htm: text('text/html'), xhtml: text('application/xhtml+xml'), css: text('text/css') },
  ...{ js: text('text/javascript'), mjs: text('text/javascript'), cjs: text('text/javascript'), json: text('application/json') },
  ...{ map: text('application/json'), webmanifest: text('application/manifest+json'), jsonld: text('application/ld+json') },
  ...{
    geojson: text('application/geo+json'),
    xml: text('application/xml'),
    xsl: text('application/xml'),
    rss: text('application/rss+xml'),
  },
  ...{ atom: text('application/atom+xml'), txt: text('text/plain'), md: text('text/markdown'), csv: text('text/csv') },
  ...{ ics: text('text/calendar'), vcf: text('text/vcard'), vtt: text('text/vtt'), svg: text('image/svg+xml') },
  ...{ png: packed('image/png'), jpg: packed('image/jpeg'), jpeg: packed('image/jpeg'), gif: packed('image/gif') },
  ...{ webp: packed('image/webp'), avif: packed('image/avif'), jxl: packed('image/jxl'), ico: loose('image/x-icon') },
  ...{ bmp: loose('image/bmp'), tif: packed('image/tiff'), tiff: packed('image/tiff') },
  ...{ woff: packed('font/woff'), woff2: packed('font/woff2'), ttf: loose('font/ttf'), otf: loose('font/otf') },
  ...{ eot: loose('application/vnd.ms-fontobject'), pdf: packed('application/pdf'), wasm: loose('application/wasm') },
  ...{ mp3: packed('audio/mpeg'), m4a: packed('audio/mp4'), ogg: packed('audio/ogg'), oga: packed('audio/ogg'), opus: packed('audio/ogg') },
  ...{ wav: packed('audio/wav'), flac: packed('audio/flac'), mp4: packed('video/mp4'), m4v: packed('video/mp4') },
  ...{ webm: packed('video/webm'), ogv: packed('video/ogg'), mov: packed('video/quicktime') },
  ...{ zip: packed('application/zip'), gz: packed('application/gzip'), glb: loose('model/gltf-binary'), gltf: text('model/gltf+json') },
}

const unknown = packed('application/octet-stream')
/** Types of files that some services request by name. */
const byName: Readonly<Record<string, FileType>> = {
  'apple-app-site-association': text('application/json'),
  'security.txt': text('text/plain'),
}

export function fileType(path: string): FileType {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  const extension = dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
  return (
    (Object.hasOwn(types, extension) ? types[extension] : undefined) ?? (Object.hasOwn(byName, name) ? byName[name] : undefined) ?? unknown
  )
}

export const isPage = (path: string): boolean => /\.html?$/i.test(path)
