from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0016_statement_edit")]
    operations = [migrations.RemoveField(model_name="case", name="statement_by")]
