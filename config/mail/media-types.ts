/** Media types by file extension, and file extensions by media type. */

/** Type of unknown octets (RFC 2046 §4.5.1). */
export const octetStream = 'application/octet-stream'

const office = 'application/vnd.openxmlformats-officedocument'
const openDocument = 'application/vnd.oasis.opendocument'

// A type and its extensions. New names get the first extension. If types share an extension, the first type applies.
const table: readonly (readonly [type: string, extensions: string])[] = [
  ['application/epub+zip', 'epub'],
  ['application/geo+json', 'geojson'],
  ['application/gzip', 'gz tgz'],
  ['application/json', 'json'],
  ['application/ms-tnef', 'dat'],
  ['application/msword', 'doc dot'],
  ['application/pdf', 'pdf'],
  ['application/pgp-keys', 'asc'],
  ['application/pgp-signature', 'asc sig'],
  ['application/pkcs7-mime', 'p7m'],
  ['application/pkcs7-signature', 'p7s'],
  ['application/pkix-cert', 'cer'],
  ['application/postscript', 'ps eps'],
  ['application/rtf', 'rtf'],
  ['application/vnd.apple.pkpass', 'pkpass'],
  ['application/vnd.ms-excel', 'xls xlt'],
  ['application/vnd.ms-outlook', 'msg'],
  ['application/vnd.ms-powerpoint', 'ppt pps'],
  [`${openDocument}.presentation`, 'odp'],
  [`${openDocument}.spreadsheet`, 'ods'],
  [`${openDocument}.text`, 'odt'],
  [`${office}.presentationml.presentation`, 'pptx'],
  [`${office}.spreadsheetml.sheet`, 'xlsx'],
  [`${office}.wordprocessingml.document`, 'docx'],
  ['application/vnd.rar', 'rar'],
  ['application/x-7z-compressed', '7z'],
  ['application/x-tar', 'tar'],
  ['application/xml', 'xml xsd'],
  ['application/yaml', 'yaml yml'],
  ['application/zip', 'zip'],
  ['audio/aac', 'aac'],
  ['audio/flac', 'flac'],
  ['audio/mp4', 'm4a'],
  ['audio/mpeg', 'mp3'],
  ['audio/ogg', 'ogg oga opus'],
  ['audio/wav', 'wav'],
  ['font/otf', 'otf'],
  ['font/ttf', 'ttf'],
  ['font/woff2', 'woff2'],
  ['image/avif', 'avif'],
  ['image/bmp', 'bmp'],
  ['image/gif', 'gif'],
  ['image/heic', 'heic'],
  ['image/jpeg', 'jpg jpeg jpe'],
  ['image/png', 'png'],
  ['image/svg+xml', 'svg'],
  ['image/tiff', 'tif tiff'],
  ['image/vnd.microsoft.icon', 'ico'],
  ['image/webp', 'webp'],
  ['message/rfc822', 'eml'],
  ['text/calendar', 'ics ifb'],
  ['text/css', 'css'],
  ['text/csv', 'csv'],
  ['text/html', 'html htm'],
  ['text/javascript', 'js mjs'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt log text'],
  ['text/tab-separated-values', 'tsv'],
  ['text/vcard', 'vcf'],
  ['video/mp4', 'mp4 m4v'],
  ['video/mpeg', 'mpeg mpg'],
  ['video/ogg', 'ogv'],
  ['video/quicktime', 'mov'],
  ['video/webm', 'webm'],
  // Only for creating names: a file with this extension gets another type.
  ['message/delivery-status', 'txt'],
  ['message/feedback-report', 'txt'],
  ['text/rfc822-headers', 'txt'],
  ['text/xml', 'xml'],
]

const types = new Map<string, string>()
const extensions = new Map<string, string>()
for (const [type, list] of table) {
  const all = list.split(' ')
  extensions.set(type, all[0] ?? 'bin')
  for (const extension of all) if (!types.has(extension)) types.set(extension, type)
}

/** Returns the media type for the extension of a name; `application/octet-stream` for unknown extensions. */
export function typeOfName(name: string): string {
  const dot = name.lastIndexOf('.')
  return (dot < 0 ? undefined : types.get(name.slice(dot + 1).toLowerCase())) ?? octetStream
}

/** Returns the usual extension of a media type in lower case, without a dot; `bin` for unknown types. */
export const extensionOfType = (type: string): string => extensions.get(type) ?? 'bin'
