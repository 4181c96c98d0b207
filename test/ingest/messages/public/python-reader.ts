/** A Python program that parses mails from JSON with the email package, and continues if the package fails. */
export const pythonReader = `
import sys, json, base64, email
from email import policy
def attempt(task):
    try: return task()
    except Exception: return None
def read(raw):
    # A header beyond ASCII (RFC 6532) is read as text, because the package takes octets for ASCII.
    text = None if raw.isascii() else attempt(lambda: raw.decode('utf-8'))
    if text is None: return email.message_from_bytes(raw, policy=policy.default)
    return email.message_from_string(text, policy=policy.SMTPUTF8)
def addresses(message, name):
    return [[a.addr_spec, a.display_name] for field in message.get_all(name) or [] for a in field.addresses]
def leaves(part):
    if part.get_content_maintype() == 'multipart' and part.is_multipart():
        for inner in part.get_payload(): yield from leaves(inner)
    else: yield part
def kind_of(part):
    # A multipart without a delimiter line is kept as a text.
    return 'text/plain' if part.get_content_maintype() == 'multipart' else part.get_content_type()
def text(part):
    kind = kind_of(part)
    if kind == 'message/delivery-status' and part.is_multipart(): return '\\n\\n'.join(block.as_string() for block in part.get_payload())
    if kind not in ('text/plain', 'text/html', 'message/delivery-status'): return None
    found = attempt(part.get_content)
    return found if isinstance(found, str) else (attempt(lambda: part.get_payload(decode=True)) or b'').decode('latin1')
def size(part):
    if part.get_content_maintype() == 'message' and part.is_multipart(): return None
    return len(part.get_payload(decode=True))
def describe(part):
    return {'type': kind_of(part), 'disposition': attempt(part.get_content_disposition) or '', 'name': attempt(part.get_filename),
      'text': attempt(lambda: text(part)), 'size': attempt(lambda: size(part))}
def tell(message):
    return {'subject': attempt(lambda: str(message['subject'] or '')), 'date': attempt(lambda: message['date'].datetime.timestamp()),
      'from': attempt(lambda: addresses(message, 'from')), 'to': attempt(lambda: addresses(message, 'to')),
      'cc': attempt(lambda: addresses(message, 'cc')), 'replyTo': attempt(lambda: addresses(message, 'reply-to')),
      'parts': [describe(part) for part in leaves(message)]}
json.dump([attempt(lambda: tell(read(base64.b64decode(line)))) for line in json.load(sys.stdin)], sys.stdout)
`
