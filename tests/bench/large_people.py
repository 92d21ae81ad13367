"""Beneficiaries for POST /v1/beneficiaries/bulk, always the same for the same number."""

FIRST = ("Amina", "José", "Chloë", "Wanjiku", "Nguyễn", "Łukasz", "Søren", "Zoë", "Ibrahim", "Ananya", "Müge",
         "Olga", "Kwame", "Björk", "Yusuf", "Marta", "Ifeoma", "Jürgen", "Anaïs", "Tomás", "Grace", "Hassan",
         "Elif", "Peter", "Naledi", "Élodie", "Rahul", "Sinéad", "Thabo", "Ingrid")
LAST = ("Otieno", "García", "Schmidt", "Kamau", "Öztürk", "Nowak", "Jensen", "Okafor", "Singh", "Müller", "Dubois",
        "Costa", "Mensah", "Kovács", "Haddad", "O'Brien", "Van der Berg", "Novák", "Diallo", "Andersson", "Mwangi",
        "Silva", "Petrov", "Nguyen", "Tanaka", "Castro", "Abebe", "Lindqvist", "Moreau", "Fofana")
TRADE = ("Handel", "Logistics", "Foods", "Textiles", "Partners", "Energy", "Labs", "Shipping", "Coffee", "Steel")
FORM = ("Ltd", "GmbH", "S.A.", "PLC", "AB")
TAGS = ("payroll", "supplier", "customer", "refund", "contractor", "export", "import", "priority", "archive", "audit")


def person(number):
    first, last = FIRST[number % len(FIRST)], LAST[number // len(FIRST) % len(LAST)]
    return {"individual": {"firstName": first, "lastName": last, "email": f"person{number}@example.com",
                           "phone": f"+2547{number % 100_000_000:08}"}}


def company(number):
    name = f"{LAST[number % len(LAST)]} {TRADE[number // 7 % len(TRADE)]} {FORM[number // 3 % len(FORM)]}"
    return {"business": {"companyName": name, "email": f"accounts{number}@example.com"}}


def people(first, count):
    for number in range(first, first + count):
        row = company(number) if number % 3 == 2 else person(number)
        row["clientReference"] = f"CR-{number:07}"
        row["tags"] = [TAGS[number % 7 % len(TAGS)], *(["rare"] if number % 5_000 == 1 else [])]
        if number < 1_000 or number % 4 == 0:
            row["paymentDestinations"] = [{
                "method": "BANK", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                "bank": {"accountName": "Recipient", "accountNumber": f"{number:06}00000", "bankName": "Sandbox Bank"}}]
        yield row
